// SPDX-License-Identifier: Apache-2.0
// The options of `newel bench`, declared to CLI11.
#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/option_error.hpp"
#include "run_options.hpp"

namespace newel::cli {

BenchCommandLine parse_bench_command_line(int argc, const char* const* argv) {
  BenchCommandLine result;
  result.text = command_text(argc, argv);

  CLI::App app("Newel solves large sparse linear systems with Krylov methods.", "newel");
  app.get_formatter()->column_width(32);
  app.allow_extras();
  CLI::App& bench = *app.add_subcommand("bench", "Measure: newel bench spmv|solve|regret A.mtx B.mtx ...");
  bench.allow_extras();
  RawBench raw_spmv;
  CLI::App& spmv = add_bench_spmv(bench, raw_spmv);
  RawBenchSolve raw_solve;
  CLI::App& solve = add_bench_solve(bench, raw_solve);
  RawBenchRegret raw_regret;
  CLI::App& regret = add_bench_regret(bench, raw_regret);
  if (!parse_or_help(app, argc, argv, "expected a matrix: newel bench spmv A.mtx, or newel bench solve A.mtx")) {
    result.command = TextOnly{app.help()};
    return result;
  }
  if (spmv.parsed()) {
    refuse_extras(spmv);
    result.command = checked_bench(raw_spmv);
  } else if (solve.parsed()) {
    refuse_extras(solve);
    result.command = checked_bench_solve(raw_solve);
  } else if (regret.parsed()) {
    refuse_extras(regret);
    result.command = checked_bench_regret(raw_regret);
  } else {
    refuse_unknown_command(bench, "usage: newel bench spmv|solve|regret A.mtx B.mtx ... [options]",
                           {"spmv", "solve", "regret"});
  }
  return result;
}

}  // namespace newel::cli
