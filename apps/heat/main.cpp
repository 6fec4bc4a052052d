// SPDX-License-Identifier: Apache-2.0
// `purlin-heat`: the plainest demonstration of one setup that serves thousands of solves.
#include "apps/common/exit_status.hpp"
#include "apps/common/interrupt.hpp"
#include "heat_command.hpp"

int main(int argc, char* argv[]) {
  purlin::cli::ignore_signals_of_writes();
  try {
    return purlin::heat::run_command(argc, argv);
  } catch (...) {
    return purlin::cli::report_exception("purlin-heat");
  }
}
