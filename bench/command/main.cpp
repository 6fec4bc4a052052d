// SPDX-License-Identifier: Apache-2.0
// `newel-bench`: what `newel bench` runs. A program of its own, since what it measures against takes longer to
// build than the rest of the command line.
#include <cstdio>
#include <variant>

#include "apps/common/exit_status.hpp"
#include "apps/common/program.hpp"
#include "command_line.hpp"
#include "regret.hpp"
#include "solve.hpp"
#include "spmv.hpp"

namespace {

using namespace newel::cli;

int run(int argc, char* argv[]) {
  const BenchCommandLine line = parse_bench_command_line(argc, argv);
  if (const auto* spmv = std::get_if<BenchOptions>(&line.command)) return run_bench(*spmv, line.text);
  if (const auto* solve = std::get_if<BenchSolveOptions>(&line.command)) return run_bench_solve(*solve, line.text);
  if (const auto* regret = std::get_if<BenchRegretOptions>(&line.command)) {
    return run_bench_regret(*regret, line.text);
  }
  print_text(stdout, std::get<TextOnly>(line.command).text);
  return exit_converged;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program("newel", argc, argv, &run); }
