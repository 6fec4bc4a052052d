// SPDX-License-Identifier: Apache-2.0
// `newel-heart`: new values on one pattern, thousands of times.
#include "apps/common/program.hpp"
#include "heart_job.hpp"

int main(int argc, char* argv[]) {
  return newel::cli::run_program("newel-heart", argc, argv,
                                 [](int count, char* words[]) { return newel::heart::run_command(count, words); });
}
