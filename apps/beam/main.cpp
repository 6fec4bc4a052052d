// SPDX-License-Identifier: Apache-2.0
// `newel-beam`: what is struck rings.
#include "apps/common/program.hpp"
#include "beam_run.hpp"

int main(int argc, char* argv[]) {
  return newel::cli::run_program("newel-beam", argc, argv,
                                 [](int count, char* words[]) { return newel::beam::run_command(count, words); });
}
