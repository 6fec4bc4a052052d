// SPDX-License-Identifier: Apache-2.0
// `purlin-heart`: new values on one pattern, thousands of times.
#include "apps/common/program.hpp"
#include "heart_command.hpp"

int main(int argc, char* argv[]) {
  return purlin::cli::run_program("purlin-heart", argc, argv,
                                  [](int count, char* words[]) { return purlin::heart::run_command(count, words); });
}
