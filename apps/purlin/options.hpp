// SPDX-License-Identifier: Apache-2.0
/// The command line as a struct: what the user asked for, checked as far as words alone can be checked.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include <purlin/solver/linear_system.hpp>

namespace purlin::cli {

/// Of the host, that may be asked for: as many as the library takes.
inline constexpr int most_threads = Context<Space::host>::most_threads;

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

/// Relative tolerance where none is given. Rounding in single precision ends near 1e-7 times the condition number.
inline constexpr double default_rtol_double = 1e-8;
inline constexpr double default_rtol_single = 1e-5;

/// Text that was requested instead of work: --help, --version.
struct TextOnly {
  std::string text;
};

/// `purlin bench`, which is a program of its own.
struct BenchProgram {};

struct CommandLine {
  std::variant<TextOnly, SolveOptions, InfoOptions, BenchProgram> command;
  std::string text;                   ///< as typed, quoted for a shell
  std::vector<std::string> warnings;  ///< options that were given and cannot have an effect; none with --quiet
};

/// Throws UsageError for everything that is not a command line.
CommandLine parse_command_line(int argc, const char* const* argv);

/// What was typed, quoted for a shell, from "purlin" on.
std::string command_text(int argc, const char* const* argv);

}  // namespace purlin::cli
