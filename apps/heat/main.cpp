// SPDX-License-Identifier: Apache-2.0
// `purlin-heat`: the plainest demonstration of one setup that serves thousands of solves.
#include "apps/common/program.hpp"
#include "heat_command.hpp"

int main(int argc, char* argv[]) {
  return purlin::cli::run_program("purlin-heat", argc, argv,
                                  [](int count, char* words[]) { return purlin::heat::run_command(count, words); });
}
