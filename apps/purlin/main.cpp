// SPDX-License-Identifier: Apache-2.0
// `purlin`: the command line of the library.
#include <cstdio>
#include <variant>

#include "apps/common/exit_status.hpp"
#include "apps/common/interrupt.hpp"
#include "apps/common/unused_options.hpp"
#include "apps/purlin/info/command.hpp"
#include "apps/purlin/solve/command.hpp"
#include "bench_program.hpp"
#include "command_line.hpp"

namespace {

using namespace purlin::cli;

int run(const CommandLine& line, char* argv[]) {
  print_warnings(line.warnings);
  if (const auto* solve = std::get_if<SolveOptions>(&line.command)) return run_solve(*solve, line.text);
  if (const auto* info = std::get_if<InfoOptions>(&line.command)) return run_info(*info);
  if (std::holds_alternative<BenchProgram>(line.command)) become_bench(argv);
  std::fputs(std::get<TextOnly>(line.command).text.c_str(), stdout);
  return exit_converged;
}

}  // namespace

int main(int argc, char* argv[]) {
  ignore_signals_of_writes();
  try {
    return run(parse_command_line(argc, argv), argv);
  } catch (...) {
    return report_exception();
  }
}
