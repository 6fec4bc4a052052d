// SPDX-License-Identifier: Apache-2.0
// The speed of a host that the cost model is not fitted to: recognised, measured once, kept, and made a profile.
#include "tests/catch.hpp"
#include "tests/matrices.hpp"
#include "tests/temporary_folder.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/memory/host_profile.hpp"
#include "solver/cost/host_speed.hpp"
#include "solver/cost/profiles/profiles.hpp"

using namespace newel;
using namespace newel::testing;
using detail::HostProfile;
using detail::HostSpeed;

namespace {

constexpr Space H = Space::host;

template <class Constants>
std::vector<double> numbers(const Constants& constants) {
  static_assert(std::is_trivially_copyable_v<Constants> && sizeof(Constants) % sizeof(double) == 0);
  std::vector<double> found(sizeof(Constants) / sizeof(double));
  std::memcpy(found.data(), &constants, sizeof(Constants));
  return found;
}

}  // namespace

TEST_CASE("A host finds its profile by the name of its processor", "[host-speed]") {
  CHECK(detail::fitted_host_profile("AMD EPYC") == &detail::epyc);
  CHECK(detail::fitted_host_profile("AMD EPYC 9654 96-Core Processor") == &detail::epyc);
  CHECK(detail::fitted_host_profile("Intel(R) Xeon(R) Processor") == nullptr);
  CHECK(detail::fitted_host_profile("") == nullptr);
  const Context<H> ctx(2);
  CHECK(machine_of(ctx).host_profile == detail::fitted_host_profile(detail::processor_name()));
  CHECK(machine_of(ctx).bytes_per_second == 2 * detail::epyc.machine.thread_bytes_per_second);
}

TEST_CASE("The name of the processor is the one that the system shows", "[host-speed]") {
  std::ifstream facts("/proc/cpuinfo");
  std::string shown;
  for (std::string line; shown.empty() && std::getline(facts, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) shown = line.substr(colon + 2);
  }
#if defined(__x86_64__)
  if (shown.empty()) return;
  shown.erase(shown.find_last_not_of(' ') + 1);
  CHECK(detail::processor_name() == shown);
#endif
}

TEST_CASE("What is measured of a host is possible", "[host-speed]") {
  const Context<H> ctx(2);
  const HostSpeed speed = detail::measure_speed(ctx);
  REQUIRE(speed.known());
  // 200 GB/s of a thread from memory, 2 TB/s from a cache, and ten entries of a product in a nanosecond are more than
  // any processor has.
  CHECK(speed.copy_bytes > 0);
  CHECK(speed.copy_bytes < 2e11);
  CHECK(speed.cached_copy_bytes > 0);
  CHECK(speed.cached_copy_bytes < 2e12);
  for (const double seconds : {speed.read_seconds, speed.csr_entry, speed.ehyb_entry, speed.setup_entry}) {
    CHECK(seconds > 2e-11);
    CHECK(std::isfinite(seconds));
  }
  CHECK(speed.setup_entry > speed.ehyb_entry);
  if (untimed()) return;
  CHECK(speed.copy_bytes > 1e8);
  CHECK(speed.csr_entry < 1e-7);
  CHECK(speed.ehyb_entry < 1e-7);
  CHECK(speed.setup_entry < 1e-5);
}

// Ratios that are powers of two, so that products with them are exact.
TEST_CASE("A profile is scaled by the ratios of the measurements", "[host-speed]") {
  const HostSpeed there = detail::epyc.speed;
  const HostSpeed here{there.copy_bytes / 2, there.cached_copy_bytes / 4, there.read_seconds * 8,
                       there.csr_entry * 4,  there.ehyb_entry / 2,        there.setup_entry * 2};
  const HostProfile scaled = detail::scaled_profile(detail::epyc, here);
  CHECK(scaled.machine.thread_bytes_per_second == detail::epyc.machine.thread_bytes_per_second / 2);
  CHECK(scaled.machine.threads_of_socket == detail::epyc.machine.threads_of_socket);
  const auto &before = detail::epyc.products, &after = scaled.products;
  for (const auto format :
       {&detail::HostProductConstants::csr, &detail::HostProductConstants::ehyb, &detail::HostProductConstants::bce,
        &detail::HostProductConstants::ell_warp, &detail::HostProductConstants::evc_hyb}) {
    const bool parts = format == &detail::HostProductConstants::ehyb;
    CHECK((after.*format).setup_seconds_per_entry == 2 * (before.*format).setup_seconds_per_entry);
    CHECK((after.*format).entry_seconds == (parts ? 0.5 : 4) * (before.*format).entry_seconds);
    CHECK((after.*format).entry_seconds_single == (parts ? 0.5 : 4) * (before.*format).entry_seconds_single);
    // A byte in memory: twice as long in the share that is streamed, eight times in the share that is waited for.
    const double waited = parts ? 0.02 : 0.13;
    const double longer = (1 - waited) * 2 + waited * 8;
    const double seconds = 1 / ((after.*format).bandwidth_share * scaled.machine.thread_bytes_per_second);
    const double seconds_there =
        1 / ((before.*format).bandwidth_share * detail::epyc.machine.thread_bytes_per_second);
    CHECK(std::abs(seconds / seconds_there - longer) < 1e-13 * longer);
  }
  CHECK(after.block_entry_seconds == before.block_entry_seconds / 2);
  CHECK(after.csr_rows.row_seconds == 4 * before.csr_rows.row_seconds);
  CHECK(after.csr_rows.uneven_rows_from == before.csr_rows.uneven_rows_from);
  CHECK(after.cached_bytes == before.cached_bytes);
  CHECK(scaled.preconds.fsai.work == 2 * detail::epyc.preconds.fsai.work);
  CHECK(scaled.preconds.useful_threads == detail::epyc.preconds.useful_threads);
  CHECK(scaled.preconds.amg.block_entry_shared == 2 * detail::epyc.preconds.amg.block_entry_shared);
  CHECK(scaled.preconds.amg.refresh_share == detail::epyc.preconds.amg.refresh_share);
  // Half as far above memory, in which the copy is half as fast.
  CHECK(scaled.iterations.last_level.speed == detail::epyc.iterations.last_level.speed / 2);
  CHECK(scaled.iterations.last_level.all_to == detail::epyc.iterations.last_level.all_to);
}

// Seconds in a profile grow with those of the host, whether somebody has added a constant or not: every number of the
// profile is either what it was or what a factor makes of it.
TEST_CASE("A profile scaled by a single factor has no other", "[host-speed]") {
  const HostSpeed there = detail::epyc.speed;
  const HostSpeed here{there.copy_bytes / 2, there.cached_copy_bytes / 2, there.read_seconds * 2,
                       there.csr_entry * 2,  there.ehyb_entry * 2,        there.setup_entry * 2};
  const HostProfile scaled = detail::scaled_profile(detail::epyc, here);
  const auto check = [](const std::vector<double>& before, const std::vector<double>& after, std::size_t as_before) {
    std::size_t same = 0;
    REQUIRE(before.size() == after.size());
    for (std::size_t k = 0; k < before.size(); ++k) {
      const double ratio = after[k] / before[k];
      const bool is_same = std::abs(ratio - 1) < 1e-14;
      same += is_same;
      INFO("number " << k);
      CHECK((is_same || ratio == 2));
    }
    CHECK(same == as_before);
  };
  // Threads, two shares, the bytes of a cache, five bandwidths, four row counts, two weights, the start of a loop.
  check(numbers(detail::epyc.products), numbers(scaled.products), 3 + 5 + 4 + 2);
  // useful_threads; of AMG: four shares, flat_rows and three multiples of iterations, fsai_refresh_share; that of ILUT.
  check(numbers(detail::epyc.preconds), numbers(scaled.preconds), 1 + 4 + 1 + 3 + 1 + 1);
  check(numbers(detail::epyc.iterations), numbers(scaled.iterations), numbers(scaled.iterations).size());
}

TEST_CASE("A cache is never slower than memory, and a disturbed ratio is cut off", "[host-speed]") {
  HostSpeed here = detail::epyc.speed;
  here.cached_copy_bytes /= 7;
  CHECK(detail::scaled_profile(detail::epyc, here).iterations.last_level.speed == 1);
  here = detail::epyc.speed;
  here.setup_entry *= 1000;
  CHECK(detail::scaled_profile(detail::epyc, here).products.ehyb.setup_seconds_per_entry ==
        8 * detail::epyc.products.ehyb.setup_seconds_per_entry);
}

TEST_CASE("A process measures its host once for each number of threads", "[host-speed]") {
  const Context<H> ctx(2), other(1);
  const HostProfile* const first = detail::measured_profile(ctx, "");
  REQUIRE(first != nullptr);
  CHECK(detail::measured_profile(ctx, "") == first);
  CHECK(detail::known_profile(ctx, "") == first);
  CHECK(detail::measured_profile(other, "") != first);
  CHECK(detail::known_profile(ctx, "", true) == nullptr);
  CHECK(detail::measured_profile(ctx, "", true) != first);
  CHECK(detail::known_profile(ctx, "") == first);
}

TEST_CASE("The measured speed of a host is kept in the folder of plans", "[host-speed]") {
  const Context<H> ctx(2);
  const TemporaryFolder folder;
  CHECK(detail::known_profile(ctx, folder.path(), true) == nullptr);
  const HostProfile* const first = detail::measured_profile(ctx, folder.path(), true);
  REQUIRE(first != &detail::epyc);
  CHECK(detail::known_profile(ctx, folder.path(), true) == first);
  CHECK(detail::measured_profile(ctx, folder.path(), true) == first);
  CHECK(detail::known_profile(Context<H>(1), folder.path(), true) == nullptr);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::ofstream(file.path()) << "damaged";
  }
  CHECK(detail::known_profile(ctx, folder.path(), true) == nullptr);
  CHECK(detail::measured_profile(ctx, folder.path(), true) != first);
  CHECK(detail::known_profile(ctx, folder.path(), true) != nullptr);
}
