// SPDX-License-Identifier: Apache-2.0
// `newel`: the command line of the library.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <variant>

#include <newel/core/error.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/program.hpp"
#include "apps/common/unused_options.hpp"
#include "apps/newel/info/options.hpp"
#include "apps/newel/solve/command.hpp"
#include "command_line.hpp"

namespace {

using namespace newel::cli;
using newel::InputError;

// `newel bench` becomes the program `newel-bench` next to `newel`, with the same arguments.
[[noreturn]] void become_bench(char* argv[]) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = (self.parent_path() / "newel-bench").string();
  execv(program.c_str(), argv);
  if (errno != ENOENT) throw InputError(program + ": " + std::strerror(errno));
  throw InputError("`newel bench` is the program newel-bench, which is not in " + self.parent_path().string() +
                   ": build it with cmake --build BUILD --target newel_bench");
}

int run(int argc, char* argv[]) {
  const Launch launch = launch_of_process();
  CommandLine line;
  try {
    line = parse_command_line(argc, argv);
  } catch (const UsageError&) {
    if (launch.rank == 0) throw;
    return exit_left_to_first;
  }
  if (launch.rank == 0) print_warnings(line.warnings);
  const auto* const shared = std::get_if<SolveOptions>(&line.command);
  if (shared != nullptr && launch.size > 1) return run_solve_launched(launch, *shared, line.text);
  if (launch.rank > 0) return exit_left_to_first;  // one process is enough for the other commands
  if (const auto* solve = std::get_if<SolveOptions>(&line.command)) return run_solve(*solve, line.text);
  if (const auto* info = std::get_if<InfoOptions>(&line.command)) return run_info(*info);
  if (std::holds_alternative<BenchProgram>(line.command)) become_bench(argv);
  print_text(stdout, std::get<TextOnly>(line.command).text);
  return exit_converged;
}

}  // namespace

int main(int argc, char* argv[]) { return run_program("newel", argc, argv, &run); }
