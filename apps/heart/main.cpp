// SPDX-License-Identifier: Apache-2.0
// `purlin-heart`: new values on one pattern, thousands of times.
#include <csignal>

#include "apps/purlin/exit_status.hpp"
#include "heart_command.hpp"

int main(int argc, char* argv[]) {
  // A reader that goes away (| head) does not cost the run: prints fail, files are written.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return purlin::heart::run_command(argc, argv);
  } catch (...) {
    return purlin::cli::report_exception("purlin-heart");
  }
}
