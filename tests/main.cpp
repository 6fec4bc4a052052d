// SPDX-License-Identifier: Apache-2.0
// Runs the tests. Device tests without a device and tests on real matrices without a folder of them are counted,
// printed and reported as skipped (exit status 77).
#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"
#include "tests/matrices.hpp"
#include "tests/skipped_library.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <newel/core/context.hpp>
#if NEWEL_HAS_CUDA
#include "distributed/links/nccl_device.hpp"
#include "tests/distributed/device_counts.hpp"
#endif

std::string newel::testing::data_folder() {
  const char* folder = std::getenv("NEWEL_TEST_DATA");
  return folder != nullptr ? folder : NEWEL_TEST_DATA;
}

namespace {

std::size_t skipped_data_tests = 0, skipped_device_tests = 0, skipped_library_tests = 0;

#if NEWEL_HAS_CUDA
// NCCL knows nothing of devices that are emulated (tests/emulation).
bool nccl_is_there() {
  using newel::Space;
  if (newel::device_count() > 0 && newel::Context<Space::device>().device_name() == "Emulated device") return false;
  try {
    static_cast<void>(newel::detail::nccl_version());
    return true;
  } catch (const newel::DeviceError&) {
    return false;
  }
}
#endif

void say_skipped(const char* why) {
  std::printf("skipped, %s: %s\n", why, Catch::getResultCapture().getCurrentTestName().c_str());
}

}  // namespace

bool newel::testing::skipped_without_data() {
  if (!data_folder().empty()) return false;
  ++skipped_data_tests;
  say_skipped("NEWEL_TEST_DATA is unset");
  return true;
}

bool newel::testing::skipped_without_library(const std::string& missing) {
  if (missing.empty()) return false;
  ++skipped_library_tests;
  say_skipped(missing.c_str());
  return true;
}

#if NEWEL_HAS_CUDA
bool newel::testing::skipped_without_devices(int devices) {
  const bool too_few = newel::device_count() < devices;
  if (!too_few && std::getenv("NEWEL_TEST_ONE_KERNEL") == nullptr) return false;
  ++skipped_device_tests;
  say_skipped(too_few ? "there are fewer devices" : "a tool may let only one kernel run at a time");
  return true;
}

std::vector<int> newel::testing::numbers_of_devices() {
  const int all = newel::device_count();
  return all > 2 ? std::vector<int>{2, all} : std::vector<int>{2};
}

bool newel::testing::skipped_without_nccl() {
  if (nccl_is_there()) return false;
  ++skipped_device_tests;
  say_skipped("NCCL cannot be loaded");
  return true;
}
#endif

namespace {

bool device_answers() {
#if NEWEL_HAS_CUDA
  return newel::device_count() > 0;
#else
  return false;
#endif
}

std::size_t count_device_tests() {
  Catch::Session session;
  std::size_t count = 0;
  for (const auto& test : Catch::getAllTestCasesSorted(session.config())) {
    count += contains(test.getTestCaseInfo().tagsAsString(), "[device]") ? 1 : 0;
  }
  return count;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc == 2 && std::strcmp(argv[1], "[device]") == 0 && !device_answers()) {
    std::printf("device tests skipped, no CUDA device is available: %zu\n", count_device_tests());
    return 77;
  }
  if (newel::testing::few_wanted()) {
    std::fprintf(stderr, "NEWEL_TEST_FEW_MATRICES is set: loops over all awkward matrices take a few of them\n");
  }
  Catch::Session session;
  const int result = session.run(argc, argv);
  const std::size_t skipped = skipped_data_tests + skipped_device_tests + skipped_library_tests;
  if (skipped == 0) return result;
  if (skipped_data_tests > 0) std::printf("skipped, NEWEL_TEST_DATA is unset: %zu test cases\n", skipped_data_tests);
  if (skipped_device_tests > 0)
    std::printf("skipped, for want of devices or NCCL: %zu test cases\n", skipped_device_tests);
  if (skipped_library_tests > 0)
    std::printf("skipped, for want of an optional library: %zu test cases\n", skipped_library_tests);
  const auto& config = session.config();
  const auto wanted = Catch::filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config);
  return result == 0 && wanted.size() == skipped ? 77 : result;
}
