// SPDX-License-Identifier: Apache-2.0
// Exceptions of a comparison program as words and an exit status.
#include "program.hpp"

#include <cstdio>
#include <exception>

namespace newel::bench {

int run_program(int argc, char* argv[], int (*run)(int argc, char* argv[])) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}

}  // namespace newel::bench
