// SPDX-License-Identifier: Apache-2.0
/// The options of `newel bench`, declared to CLI11: those that all commands take, and those of each.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/common/exit_status.hpp"
#include "apps/common/names.hpp"
#include "apps/common/method_options.hpp"
#include "apps/common/text.hpp"
#include "command_line.hpp"

namespace newel::cli {

/// The systems. `o` must live as long as the command.
void add_bench_systems(CLI::App& command, BenchRunOptions& o);

/// Where, how often, and what is written: --device to --csv. `verb` is what is done there, `line` what a line of the
/// CSV file is, in addition to system and precision.
void add_bench_run(CLI::App& command, BenchRunOptions& o, const std::string& verb, const std::string& line);

/// --tol and --max-iterations of a solve; the first. Both must live as long as the command.
CLI::Option* add_bench_stop(CLI::App& command, double& tolerance, int& max_iterations);

/// Throws UsageError for what is no precision.
void take_precision(const std::string& given, BenchRunOptions& o);

/// The names in `given`, each brought to the table's spelling by `check`; all of `all` for "all". Throws UsageError
/// for a name that is there twice.
template <class Check>
std::vector<std::string> names_of(const std::string& given, const std::string& option,
                                  const std::vector<std::string>& all, Check&& check) {
  if (given == "all") return all;
  std::vector<std::string> names;
  for (const std::string& part : split(given, ',')) {
    const std::string name = check(part);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      throw UsageError(option + ": " + name + " is given twice");
    }
    names.push_back(name);
  }
  return names;
}

/// The options of each command, with strings as they were typed until the tables have been asked. The functions add
/// the command to `bench`, where `raw` must live as long as the two, and check what was typed: they throw UsageError
/// for names that there are not, and for options that do not go together.
struct RawBench {
  BenchOptions options;
  std::string formats = "all";
  std::string precision = "both";
  std::string columns;
};

CLI::App& add_bench_spmv(CLI::App& bench, RawBench& raw);
BenchOptions checked_bench(const RawBench& raw);

struct RawBenchSolve {
  BenchSolveOptions options;
  std::string solvers = "all";
  std::string preconds = "jacobi";
  std::string formats = "ehyb,csr";
  std::string precision = "double";
  std::string gpus, ranks, links, weak;  ///< empty: not given
  CLI::App* command = nullptr;
  CLI::Option* tolerance_given = nullptr;
  CLI::Option* restart_given = nullptr;
};

CLI::App& add_bench_solve(CLI::App& bench, RawBenchSolve& raw);
BenchSolveOptions checked_bench_solve(const RawBenchSolve& raw);

/// The part of `newel bench solve` that measures scaling: --gpus to --iterations.
void add_bench_scaling(CLI::App& solve, RawBenchSolve& raw);
/// Takes them into `o`. Throws UsageError for options that do not go with them.
void take_bench_scaling(const RawBenchSolve& raw, BenchSolveOptions& o);

struct RawBenchRegret {
  BenchRegretOptions options;
  std::string formats = "all";
  std::string preconds, solvers;  ///< empty: not given
  std::string precision = "double";
  CLI::Option* tolerance_given = nullptr;
  CLI::Option* preconds_given = nullptr;
  CLI::Option* solvers_given = nullptr;
  CLI::Option* time_limit_given = nullptr;
};

CLI::App& add_bench_regret(CLI::App& bench, RawBenchRegret& raw);
BenchRegretOptions checked_bench_regret(const RawBenchRegret& raw);

}  // namespace newel::cli
