// SPDX-License-Identifier: Apache-2.0
// `newel-heat`: the plainest demonstration of one setup that serves thousands of solves.
#include "apps/common/program.hpp"
#include "heat_run.hpp"

int main(int argc, char* argv[]) {
  return newel::cli::run_program("newel-heat", argc, argv,
                                 [](int count, char* words[]) { return newel::heat::run_command(count, words); });
}
