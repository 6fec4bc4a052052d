// SPDX-License-Identifier: Apache-2.0
/// The options of `newel bench spmv`, declared to CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "command_line.hpp"

namespace newel::cli {

/// Strings as they were typed, until the tables have been asked.
struct RawBench {
  BenchOptions options;
  std::string formats = "all";
  std::string precision = "both";
  std::string columns;
};

/// Adds the command `spmv` to `bench`. `raw` must live as long as the two.
CLI::App& add_bench_spmv(CLI::App& bench, RawBench& raw);

/// Throws UsageError for names that there are not.
BenchOptions checked_bench(const RawBench& raw);

}  // namespace newel::cli
