// SPDX-License-Identifier: Apache-2.0
// `purlin-heat`: the plainest demonstration of one setup that serves thousands of solves.
#include <csignal>

#include "apps/purlin/exit_status.hpp"
#include "heat_command.hpp"

int main(int argc, char* argv[]) {
  // A reader that goes away (| head) does not cost the run: prints fail, files are written.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return purlin::heat::run_command(argc, argv);
  } catch (...) {
    return purlin::cli::report_exception("purlin-heat");
  }
}
