// SPDX-License-Identifier: Apache-2.0
/// The options of `newel bench solve`, declared to CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "command_line.hpp"

namespace newel::cli {

/// Strings as they were typed, until the tables have been asked.
struct RawBenchSolve {
  BenchSolveOptions options;
  std::string solvers = "all";
  std::string preconds = "jacobi";
  std::string formats = "ehyb,csr";
  std::string precision = "double";
  CLI::Option* tolerance_given = nullptr;
  CLI::Option* restart_given = nullptr;
};

/// Adds the command `solve` to `bench`. `raw` must live as long as the two.
CLI::App& add_bench_solve(CLI::App& bench, RawBenchSolve& raw);

/// Throws UsageError for names that there are not, and for options that do not go together.
BenchSolveOptions checked_bench_solve(const RawBenchSolve& raw);

}  // namespace newel::cli
