// SPDX-License-Identifier: Apache-2.0
// The commands of `newel`, declared to CLI11.
#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <string_view>

#include <newel/config.hpp>
#include <newel/solver/factorisations.hpp>

#include "apps/common/option_error.hpp"
#include "apps/common/unused_options.hpp"
#include "apps/newel/info/declared_options.hpp"
#include "apps/newel/solve/declared_options.hpp"

namespace newel::cli {
namespace {

constexpr const char* usage =
    "usage: newel solve A.mtx [options]    solve A x = b (newel solve --help)\n"
    "             newel info A.mtx [options]     describe a matrix; newel bench spmv|solve|regret A.mtx: times\n"
    "             newel --help | --version";

// Of the direct solver: a line for each library that is there, or the package that brings it.
std::string factorisations_text() {
  std::string lines;
  for (const Factorisation& row : factorisations()) {
    lines += "direct: " + row.title + (row.space == Space::host ? ", on the host" : ", on a device");
    lines += row.missing.empty() ? "" : ": not here, package " + row.package + " brings it";
    lines += "\n";
  }
  return lines;
}

std::string version_text() {
  std::string result = "newel " NEWEL_VERSION "\n";
  result += NEWEL_HAS_CUDA == 0 ? "without CUDA\n"
                                : "CUDA toolkit " NEWEL_CUDA_TOOLKIT
                                  ", compiled for architectures " NEWEL_CUDA_ARCHITECTURES "\n";
  return result + factorisations_text();
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine result;
  result.text = command_text(argc, argv);
  if (argc > 1 && std::string_view(argv[1]) == "bench") {
    result.command = BenchProgram{};
    return result;
  }

  CLI::App app("Newel solves large sparse linear systems with Krylov methods.", "newel");
  bool version = false;
  app.add_flag("--version", version, "Version, CUDA toolkit, architectures");
  app.get_formatter()->column_width(32);
  app.allow_extras();
  RawSolve raw_solve;
  RawInfo raw_info;
  CLI::App& solve = add_solve(app, raw_solve);
  CLI::App& info = add_info(app, raw_info);
  app.add_subcommand("bench", "Measure: newel bench spmv|solve|regret A.mtx B.mtx ...");  // for the help

  if (!parse_or_help(app, argc, argv,
                     "expected a matrix: newel solve A.mtx, newel info A.mtx, or newel bench spmv|solve A.mtx")) {
    result.command = TextOnly{app.help()};
    return result;
  }
  if (version) {
    result.command = TextOnly{version_text()};
    return result;
  }
  if (solve.parsed()) {
    refuse_extras(solve);
    refuse_keyword(solve, raw_solve.second);
    const SolveOptions o = checked_solve(raw_solve, solve);
    if (!o.quiet)
      result.warnings =
          unused_option_warnings(o.given, requested_configuration(o.system, o.single_precision, o.device));
    result.command = o;
  } else if (info.parsed()) {
    refuse_extras(info);
    const InfoOptions o = checked_info(raw_info);
    SystemOptions judged;
    judged.precond = o.precond;
    result.warnings = unused_option_warnings(given_options(info), requested_configuration(judged, false, "host"));
    result.command = o;
  } else {
    refuse_unknown_command(app, usage, {"solve", "info", "bench"});
  }
  return result;
}

}  // namespace newel::cli
