// SPDX-License-Identifier: Apache-2.0
// Runs the tests. Device tests without a device and tests on real matrices without a folder of them are counted,
// printed and reported as skipped (exit status 77).
#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"
#include "tests/matrices.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <newel/core/context.hpp>

std::string newel::testing::data_folder() {
  const char* folder = std::getenv("NEWEL_TEST_DATA");
  return folder != nullptr ? folder : NEWEL_TEST_DATA;
}

namespace {

std::size_t skipped_data_tests = 0;

}  // namespace

bool newel::testing::skipped_without_data() {
  if (!data_folder().empty()) return false;
  ++skipped_data_tests;
  std::printf("skipped, NEWEL_TEST_DATA is unset: %s\n", Catch::getResultCapture().getCurrentTestName().c_str());
  return true;
}

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
  if (skipped_data_tests == 0) return result;
  std::printf("skipped, NEWEL_TEST_DATA is unset: %zu test cases\n", skipped_data_tests);
  const auto& config = session.config();
  const auto wanted = Catch::filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config);
  return result == 0 && wanted.size() == skipped_data_tests ? 77 : result;
}
