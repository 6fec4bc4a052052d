// SPDX-License-Identifier: Apache-2.0
/// The options that both demos have, declared to CLI11 once, checked as far as words alone can be checked.
#pragma once

#include <CLI/CLI.hpp>

#include <list>
#include <optional>
#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>

#include "apps/common/json_file.hpp"
#include "apps/common/precond_options.hpp"

namespace newel::transient {

/// What the user asked for. A program fills in its defaults before it parses.
struct RunOptions {
  std::string mesh;  ///< file; empty: the program's own
  int refine = 0;
  std::string mesh_unit = "auto";  ///< auto | mm | cm | m
  double duration = 1;             ///< times are in the program's unit
  double dt = 1;
  double output_every = 0;      ///< 0: the last state only
  double checkpoint_every = 0;  ///< 0: when interrupted only
  std::string resume;           ///< folder of a run to continue with; empty: from the beginning
  std::string out = ".";
  std::string params;  ///< file; empty: defaults
  std::string report;  ///< file; empty: report.json in `out`
  std::string device = "auto";
  int threads = 0;  ///< 0: all
  bool quiet = false;
  std::vector<std::string> given;     ///< what was given of the options that some solves have no use for
  std::vector<std::string> warnings;  ///< of those that cannot have an effect; none with --quiet
  /// Format, preconditioner, solver, tolerance, and whether to keep the bits. The preconditioner does not depend on
  /// how long the run is, so that one which is prolonged keeps its bits.
  SystemOptions system = with_jacobi();

  static SystemOptions with_jacobi() {
    SystemOptions options;
    options.precond.name = "jacobi";
    return options;
  }
};

/// How a program speaks of itself.
struct ProgramWords {
  std::string name;                                            ///< "newel-heat"
  std::string summary;                                         ///< one sentence
  std::string mesh_help;                                       ///< what comes without a mesh
  std::string time_unit;                                       ///< "ms", "s"
  std::string examples;                                        ///< foot of --help
  std::string tolerance = "Solve until |b - A x| <= TOL |b|";  ///< what --tol means
};

/// A demo's command line. The program adds options of its own to `app` before it parses.
class RunCommand {
 public:
  /// `options` holds the defaults, receives what was asked, and outlives the command.
  RunCommand(const ProgramWords& words, RunOptions& options);
  RunCommand(const RunCommand&) = delete;
  RunCommand& operator=(const RunCommand&) = delete;

  CLI::App& app() { return app_; }

  /// Parses and checks. Returns text that was requested instead of work (--help, --version). Throws cli::UsageError
  /// for everything that is not a command line; names of formats, preconditioners and solvers are those of the tables
  /// afterwards.
  std::optional<std::string> parse(int argc, const char* const* argv);

  /// As typed, quoted for a shell.
  const std::string& command_line() const { return text_; }
  /// Whether the user gave it: `given("--dt")`. After `parse`.
  bool given(const std::string& option) const { return app_.get_option(option)->count() > 0; }

 private:
  void add_run_options();
  void add_method_options();
  void add_machine_options();
  void check();

  ProgramWords words_;
  RunOptions& options_;
  cli::RawPrecond precond_;
  std::list<cli::DeclaredOption> solver_options_;
  CLI::App app_;
  std::string text_;
};

/// What the report says about the options.
cli::Json options_json(const RunOptions& options);

/// Makes the folder where it is missing, and proves that files can be made in it. Throws InputError.
void prepare_folder(const std::string& folder);

}  // namespace newel::transient
