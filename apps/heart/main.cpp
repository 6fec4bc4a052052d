// SPDX-License-Identifier: Apache-2.0
// `purlin-heart`: new values on one pattern, thousands of times.
#include "apps/common/exit_status.hpp"
#include "apps/common/interrupt.hpp"
#include "heart_command.hpp"

int main(int argc, char* argv[]) {
  purlin::cli::ignore_signals_of_writes();
  try {
    return purlin::heart::run_command(argc, argv);
  } catch (...) {
    return purlin::cli::report_exception("purlin-heart");
  }
}
