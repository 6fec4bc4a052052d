// SPDX-License-Identifier: Apache-2.0
/// The command line of `newel bench` as a struct.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "apps/common/text.hpp"
#include "apps/newel/input/precision.hpp"

namespace newel::cli {

/// The options of all commands of `newel bench`.
struct BenchRunOptions {
  std::vector<std::string> systems;  ///< files, or generated specs
  bool double_precision = true;
  bool single_precision = true;
  std::string device = "auto";
  int threads = 0;  ///< 0: all
  int repeats = 11;
  std::string report, csv;
};

/// `newel bench spmv`.
struct BenchOptions : BenchRunOptions {
  std::vector<std::string> formats;  ///< names of the table, with or without variant; empty: all, with all variants
  std::vector<int> columns;          ///< products with so many vectors at once are measured too: 2, 4 or 8
};

/// `newel bench solve`.
struct BenchSolveOptions : BenchRunOptions {
  BenchSolveOptions() {
    single_precision = false;
    repeats = 5;
  }

  std::vector<std::string> solvers, preconds, formats;  ///< names of the tables
  int restart = 30;                                     ///< of GMRES
  bool mixed = false;                                   ///< also Newel's solvers in mixed precision
  bool single_basis = false;                            ///< our GMRES with its basis in single precision too
  std::string rhs = "ones";
  double tolerance = default_rtol_double;
  double single_tolerance = default_rtol_single;
  int max_iterations = 10000;

  /// Scaling instead, with CG: numbers of ranks that share each system, which are GPUs or threads of the host.
  std::vector<int> shares;
  bool on_gpus = false;
  std::vector<std::string> links = {"automatic"};  ///< how the values of several GPUs travel
  std::vector<std::string> weak;                   ///< generated systems of one rank, which grow with the ranks
  int loop_iterations = 200;                       ///< of the shorter of two loops
};

/// `newel bench regret`.
struct BenchRegretOptions : BenchRunOptions {
  BenchRegretOptions() {
    single_precision = false;
    repeats = 1;
  }

  std::vector<std::string> formats;   ///< names of the table
  std::vector<std::string> preconds;  ///< empty: none, and those that `auto` may choose for the solver
  std::vector<std::string> solvers;   ///< in addition to the one that `auto` begins with
  double scale_estimates = 1;         ///< what `auto` expects of iterations is multiplied
  bool all_formats = true;            ///< those that are not there are lines with this reason
  std::string rhs = "ones";
  double tolerance = default_rtol_double;
  int max_iterations = 10000;
  double time_limit = 0;   ///< seconds of a combination's solve; 0: ten times the best total so far, 1 at least
  int loop = 200;          ///< solves of the time loop
  bool continues = false;  ///< systems that are in the report are not measured again
};

struct BenchCommandLine {
  std::variant<TextOnly, BenchOptions, BenchSolveOptions, BenchRegretOptions> command;
  std::string text;  ///< as typed, quoted for a shell
};

/// Takes `newel bench ...` whole. Throws UsageError for everything that is not a command line.
BenchCommandLine parse_bench_command_line(int argc, const char* const* argv);

}  // namespace newel::cli
