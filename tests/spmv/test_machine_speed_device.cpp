// SPDX-License-Identifier: Apache-2.0
// The speed of a device that the cost model is not fitted to: measured, kept, and used by what "auto" compares.
#include "tests/catch.hpp"

#include <newel/solver/linear_system.hpp>
#include "core/memory/machine_constants.hpp"
#include "spmv/cost/machine_speed.hpp"

namespace {

constexpr Space D = Space::device;

double seconds_of_iteration(const Context<D>& ctx, const CsrView<double, D>& a, bool deterministic, bool unknown) {
  SystemOptions options;
  options.deterministic = deterministic;
  options.estimate_scale.device_unknown = unknown;
  const LinearSystem<double, D> system(ctx, a, options);
  const std::vector<SystemCandidate> candidates = system.history().candidates();
  REQUIRE(!candidates.empty());
  return candidates.front().iteration_seconds;
}

}  // namespace

TEST_CASE("The cost model is fitted to H100s and H200s", "[machine-speed]") {
  Machine machine;
  for (const char* name : {"NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA GH200 480GB"}) {
    machine.name = name;
    CHECK(detail::is_fitted(machine));
  }
  for (const char* name : {"NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 4090", "NVIDIA B200"}) {
    machine.name = name;
    CHECK_FALSE(detail::is_fitted(machine));
  }
}

TEST_ON_DEVICE("The measured speed of a device is near what the driver says of it", "[machine-speed][device]") {
  const Machine said = machine_of(ctx);
  const detail::MachineSpeed speed = detail::measure_speed(ctx);
  INFO(said.name << ": " << speed.bytes_per_second << " bytes/s, " << speed.start_seconds << " s");
  CHECK(speed.bytes_per_second > 0);
  CHECK(speed.start_seconds > 0);
  if (untimed()) return;
  CHECK(speed.bytes_per_second > 0.6 * said.bytes_per_second);
  CHECK(speed.bytes_per_second < 1.3 * said.bytes_per_second);
  const double fitted = detail::constants_of<detail::DeviceMachineConstants>(said).start_seconds;
  CHECK(speed.start_seconds > 0.3 * fitted);
  CHECK(speed.start_seconds < 3 * fitted);
}

TEST_ON_DEVICE("A measured speed is kept in the folder of plans", "[machine-speed][device]") {
  const TemporaryFolder folder;
  const Machine first = detail::measured_machine(ctx, folder.path(), true);
  const Machine again = detail::measured_machine(ctx, folder.path(), true);
  CHECK(first.bytes_per_second != machine_of(ctx).bytes_per_second);
  CHECK(again.bytes_per_second == first.bytes_per_second);
  CHECK(again.start_ratio == first.start_ratio);
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::ofstream(file.path()) << "damaged";
  }
  const double measured_anew = detail::measured_machine(ctx, folder.path(), true).bytes_per_second;
  CHECK(measured_anew > 0);
  CHECK((untimed() || measured_anew > 0.4 * first.bytes_per_second));
}

TEST_ON_DEVICE("What a clock says has a part in choices, but for those that are to have the same bits",
               "[machine-speed][device]") {
  const auto uploaded = upload_matrix<double>(ctx, tridiagonal_matrix(30000));
  const double fitted = seconds_of_iteration(ctx, uploaded.narrow(), false, false);
  CHECK(seconds_of_iteration(ctx, uploaded.narrow(), true, false) == fitted);
  CHECK(seconds_of_iteration(ctx, uploaded.narrow(), false, true) != fitted);
  CHECK(seconds_of_iteration(ctx, uploaded.narrow(), true, true) == fitted);
}
