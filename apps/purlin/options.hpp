// SPDX-License-Identifier: Apache-2.0
/// The command line as a struct: what the user asked for, checked as far as words alone can be checked.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <purlin/solver/linear_system.hpp>

namespace purlin::cli {

/// Of the host, that may be asked for.
inline constexpr int most_threads = 1024;

/// `purlin solve`. File names are empty where none was given.
struct SolveOptions {
  std::string matrix;  ///< file, or generated spec
  std::string rhs = "A*random:1";
  std::string guess, out, history, report;
  std::string precond_pattern;  ///< file of --precond-pattern
  std::string coordinates;      ///< file of the nodes' coordinates, for --partitioner coordinates
  std::string device = "auto";
  bool single_precision = false;
  int threads = 0;  ///< 0: all
  bool quiet = false;
  std::vector<std::string> given;  ///< what was given of the options that some solves have no use for
  SystemOptions system;            ///< format, preconditioner, solver, stopping, null space, mixed precision

  /// As --precision names it.
  std::string precision() const { return single_precision ? "single" : system.mixed ? "mixed" : "double"; }
};

/// `purlin info`.
struct InfoOptions {
  std::string matrix;
  std::string report;
  std::string out;  ///< file that the matrix is written to
  int threads = 0;
  PrecondOptions precond{"none"};  ///< one to build and to judge
  std::string precond_pattern;     ///< file of --precond-pattern
};

/// What all commands of `purlin bench` are told.
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

/// Relative tolerance where none is given. Rounding in single precision ends near 1e-7 times the condition number.
inline constexpr double default_rtol_double = 1e-8;
inline constexpr double default_rtol_single = 1e-5;

/// `purlin bench solve`.
struct BenchSolveOptions : BenchRunOptions {
  BenchSolveOptions() {
    single_precision = false;
    repeats = 5;
  }

  std::vector<std::string> solvers, preconds, formats;  ///< names of the tables
  int restart = 30;                                     ///< of GMRES
  bool mixed = false;                                   ///< ours in mixed precision too, beside double
  bool single_basis = false;                            ///< our GMRES with its basis in single precision too
  std::string rhs = "ones";
  double tolerance = default_rtol_double;
  double single_tolerance = default_rtol_single;
  int max_iterations = 10000;
};

/// Text that was asked for instead of work: --help, --version.
struct TextOnly {
  std::string text;
};

struct CommandLine {
  std::variant<TextOnly, SolveOptions, InfoOptions, BenchOptions, BenchSolveOptions> command;
  std::string text;  ///< as typed, quoted for a shell
};

/// Throws UsageError for everything that is not a command line.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace purlin::cli
