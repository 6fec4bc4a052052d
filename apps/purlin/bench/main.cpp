// SPDX-License-Identifier: Apache-2.0
// `purlin-bench`: what `purlin bench` runs. A program of its own, since what it measures against takes longer to
// build than the rest of the command line.
#include <csignal>
#include <cstdio>
#include <variant>

#include "apps/common/exit_status.hpp"
#include "command_line.hpp"
#include "regret_command.hpp"
#include "solve_command.hpp"
#include "spmv_command.hpp"

namespace {

using namespace purlin::cli;

int run(const BenchCommandLine& line) {
  if (const auto* spmv = std::get_if<BenchOptions>(&line.command)) return run_bench(*spmv, line.text);
  if (const auto* solve = std::get_if<BenchSolveOptions>(&line.command)) return run_bench_solve(*solve, line.text);
  if (const auto* regret = std::get_if<BenchRegretOptions>(&line.command)) {
    return run_bench_regret(*regret, line.text);
  }
  std::fputs(std::get<TextOnly>(line.command).text.c_str(), stdout);
  return exit_converged;
}

}  // namespace

int main(int argc, char* argv[]) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(parse_bench_command_line(argc, argv));
  } catch (...) {
    return report_exception();
  }
}
