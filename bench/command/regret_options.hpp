// SPDX-License-Identifier: Apache-2.0
/// The options of `newel bench regret`, declared to CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "command_line.hpp"

namespace newel::cli {

/// Strings as they were typed, until the tables have been asked.
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

/// Adds the command `regret` to `bench`. `raw` must live as long as the two.
CLI::App& add_bench_regret(CLI::App& bench, RawBenchRegret& raw);

/// Throws UsageError for names that there are not, and for options that do not go together.
BenchRegretOptions checked_bench_regret(const RawBenchRegret& raw);

}  // namespace newel::cli
