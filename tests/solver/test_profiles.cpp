// SPDX-License-Identifier: Apache-2.0
// The profiles of machines: complete, found by name, and read where a machine names one.
#include "tests/catch.hpp"

#include <newel/spmv/registry.hpp>
#include "solver/cost/profiles/profiles.hpp"

namespace {

// Of a struct that consists of numbers alone; the place of the first that is not positive, or how many there are.
template <class Constants>
void check_all_set(const char* profile, const char* part, const Constants& constants) {
  static_assert(std::is_trivially_copyable_v<Constants> && sizeof(Constants) % sizeof(double) == 0);
  std::vector<double> numbers(sizeof(Constants) / sizeof(double));
  std::memcpy(numbers.data(), &constants, sizeof(Constants));
  for (std::size_t place = 0; place < numbers.size(); ++place) {
    INFO(profile << ", " << part << ", number " << place);
    CHECK(std::isfinite(numbers[place]));
    CHECK(numbers[place] > 0);
  }
}

template <class Profile>
void check_profile(const Profile& profile) {
  CHECK(std::strlen(profile.name) > 0);
  check_all_set(profile.name, "machine", profile.machine);
  check_all_set(profile.name, "products", profile.products);
  check_all_set(profile.name, "preconditioners", profile.preconds);
  check_all_set(profile.name, "iterations", profile.iterations);
}

}  // namespace

TEST_CASE("Every constant of every profile is set", "[profiles]") {
  check_profile(detail::epyc);
  check_all_set(detail::epyc.name, "speed", detail::epyc.speed);
  check_profile(detail::h200);
  check_profile(detail::h100);
  check_all_set("any machine", "iterations", detail::iteration_counts);
  check_all_set("any machine", "preconditioners", detail::precond_counts);
}

TEST_CASE("A device finds its profile by its name", "[profiles]") {
  CHECK(detail::fitted_profile("NVIDIA H200") == &detail::h200);
  CHECK(detail::fitted_profile("NVIDIA H100 80GB HBM3") == &detail::h100);
  CHECK(detail::fitted_profile("NVIDIA A100-SXM4-80GB") == nullptr);
  CHECK(detail::fitted_profile("") == nullptr);
}

TEST_CASE("An estimate reads the constants of the profile that the machine names", "[profiles]") {
  PatternFacts facts;
  facts.rows = facts.cols = 10000;
  facts.nonzeros = 70000;
  facts.longest_row = 7;
  facts.lengths = {{7, 10000}};
  detail::HostProfile slow = detail::epyc;
  slow.products.csr.setup_seconds_per_entry *= 3;
  detail::DeviceProfile faint = detail::h200;
  faint.products.share.csr /= 2;
  const SpmvOptions options;
  const auto estimate = [&](const Machine& machine) {
    return find_spmv_format("csr").cost_estimate(facts, {"", options, machine, sizeof(double)});
  };
  Machine host, device;
  device.space = Space::device;
  const CostEstimate usual = estimate(host), on_device = estimate(device);
  host.host_profile = &slow;
  device.device_profile = &faint;
  CHECK(estimate(host).setup_seconds_per_entry == 3 * usual.setup_seconds_per_entry);
  CHECK(estimate(device).bandwidth_share == on_device.bandwidth_share / 2);
  CHECK(estimate(device).setup_seconds_per_entry == on_device.setup_seconds_per_entry);
}
