// SPDX-License-Identifier: Apache-2.0
// `purlin`: the command line of the library.
#include <csignal>
#include <cstdio>
#include <variant>

#include "bench_command.hpp"
#include "bench_solve_command.hpp"
#include "exit_status.hpp"
#include "info_command.hpp"
#include "options.hpp"
#include "solve_command.hpp"

namespace {

using namespace purlin::cli;

int run(const CommandLine& line) {
  if (const auto* solve = std::get_if<SolveOptions>(&line.command)) return run_solve(*solve, line.text);
  if (const auto* info = std::get_if<InfoOptions>(&line.command)) return run_info(*info);
  if (const auto* bench = std::get_if<BenchOptions>(&line.command)) return run_bench(*bench, line.text);
  if (const auto* bench = std::get_if<BenchSolveOptions>(&line.command)) return run_bench_solve(*bench, line.text);
  std::fputs(std::get<TextOnly>(line.command).text.c_str(), stdout);
  return exit_converged;
}

}  // namespace

int main(int argc, char* argv[]) {
  // A reader that goes away (| head) does not cost the solution: prints fail, files are written.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(parse_command_line(argc, argv));
  } catch (...) {
    return report_exception();
  }
}
