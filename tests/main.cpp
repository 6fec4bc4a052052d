// SPDX-License-Identifier: Apache-2.0
// Runs the tests. Device tests without a device are counted, printed and reported as skipped (exit status 77).
#define CATCH_CONFIG_RUNNER
#include "tests/catch.hpp"
#include "tests/matrices.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <purlin/core/context.hpp>

std::string purlin::testing::data_folder() {
  const char* folder = std::getenv("PURLIN_TEST_DATA");
  return folder != nullptr ? folder : PURLIN_TEST_DATA;
}

namespace {

bool device_answers() {
#if PURLIN_HAS_CUDA
  return purlin::device_count() > 0;
#else
  return false;
#endif
}

std::size_t count_device_tests() {
  Catch::Session session;
  std::size_t count = 0;
  for (const auto& test : Catch::getAllTestCasesSorted(session.config())) {
    count += test.getTestCaseInfo().tagsAsString().find("[device]") != std::string::npos ? 1 : 0;
  }
  return count;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc == 2 && std::strcmp(argv[1], "[device]") == 0 && !device_answers()) {
    std::printf("device tests skipped, no CUDA device answers: %zu\n", count_device_tests());
    return 77;
  }
  if (purlin::testing::data_folder().empty()) {
    std::fprintf(stderr, "PURLIN_TEST_DATA is unset: tests on real matrices are left out\n");
  }
  if (purlin::testing::few_wanted()) {
    std::fprintf(stderr, "PURLIN_TEST_FEW_MATRICES is set: loops over all awkward matrices take a few of them\n");
  }
  return Catch::Session().run(argc, argv);
}
