// SPDX-License-Identifier: Apache-2.0
// `newel`: the command line of the library.
#include <cstdio>
#include <variant>

#include "apps/common/exit_status.hpp"
#include "apps/common/program.hpp"
#include "apps/common/unused_options.hpp"
#include "apps/newel/info/command.hpp"
#include "apps/newel/solve/command.hpp"
#include "bench_program.hpp"
#include "command_line.hpp"

namespace {

using namespace newel::cli;

int run(int argc, char* argv[]) {
  const CommandLine line = parse_command_line(argc, argv);
  print_warnings(line.warnings);
  if (const auto* solve = std::get_if<SolveOptions>(&line.command)) return run_solve(*solve, line.text);
  if (const auto* info = std::get_if<InfoOptions>(&line.command)) return run_info(*info);
  if (std::holds_alternative<BenchProgram>(line.command)) become_bench(argv);
  print_text(stdout, std::get<TextOnly>(line.command).text);
  return exit_converged;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program("newel", argc, argv, &run); }
