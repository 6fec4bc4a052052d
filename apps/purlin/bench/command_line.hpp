// SPDX-License-Identifier: Apache-2.0
/// The command line of `purlin bench` as a struct.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "apps/common/text.hpp"
#include "apps/purlin/input/precision.hpp"

namespace purlin::cli {

/// The options of all commands of `purlin bench`.
struct BenchRunOptions {
  std::vector<std::string> systems;  ///< files, or generated specs
  bool double_precision = true;
  bool single_precision = true;
  std::string device = "auto";
  int threads = 0;  ///< 0: all
  int repeats = 11;
  std::string report, csv;
};

/// `purlin bench spmv`.
struct BenchOptions : BenchRunOptions {
  std::vector<std::string> formats;  ///< names of the table, with or without variant; empty: all, with all variants
  std::vector<int> columns;          ///< products with so many vectors at once are measured too: 2, 4 or 8
};

/// `purlin bench solve`.
struct BenchSolveOptions : BenchRunOptions {
  BenchSolveOptions() {
    single_precision = false;
    repeats = 5;
  }

  std::vector<std::string> solvers, preconds, formats;  ///< names of the tables
  int restart = 30;                                     ///< of GMRES
  bool mixed = false;                                   ///< also Purlin's solvers in mixed precision
  bool single_basis = false;                            ///< our GMRES with its basis in single precision too
  std::string rhs = "ones";
  double tolerance = default_rtol_double;
  double single_tolerance = default_rtol_single;
  int max_iterations = 10000;
};

struct BenchCommandLine {
  std::variant<TextOnly, BenchOptions, BenchSolveOptions> command;
  std::string text;  ///< as typed, quoted for a shell
};

/// Takes `purlin bench ...` whole. Throws UsageError for everything that is not a command line.
BenchCommandLine parse_bench_command_line(int argc, const char* const* argv);

}  // namespace purlin::cli
