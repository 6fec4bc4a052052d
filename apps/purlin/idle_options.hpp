// SPDX-License-Identifier: Apache-2.0
/// Options that can do nothing for a solve: a warning where the command line alone shows it, a remark where only the
/// solve did. They are no mistakes: scripts try solvers with one set of options. One table says what each belongs to.
#pragma once

#include <string>
#include <vector>

#include <purlin/core/types.hpp>
#include <purlin/solver/linear_system.hpp>

#include "json_file.hpp"

namespace CLI {
class App;
}

namespace purlin::cli {

/// What a solve is made of, as far as it is known.
struct SolveMakeup {
  std::vector<std::string> solvers;  ///< those that may run, or that ran, without "mixed"
  std::string precond;               ///< "auto": not chosen yet
  std::string format;                ///< "auto", "measure": not chosen yet
  bool format_measured = false;      ///< --format measure was asked for
  bool choice_left = false;          ///< a format or a preconditioner was left to us
  bool null_space = false;
  bool single_precision = false;
  bool mixed = false;
  bool on_card = true;  ///< or may be
  Index columns = 1;    ///< 1 also where they are not known yet
};

/// As the command line tells it. `device` is what --device was given.
SolveMakeup makeup_asked(const SystemOptions& options, bool single_precision, const std::string& device);

/// As it is when the choices of the setup are made. `asked` is the makeup before.
SolveMakeup makeup_set_up(SolveMakeup asked, const SystemInfo& system, Space space);

/// As it is after the solves of all columns, which `reports` tell of.
SolveMakeup makeup_solved(SolveMakeup set_up, const std::vector<SolveReport>& reports);

/// An option that was given, and why it has no effect.
struct IdleOption {
  std::string option;  ///< "--restart"
  std::string reason;  ///< "it belongs to --solver gmres, and the solver is cg"
};

/// The options of the table that `command` has and the user gave, as the table names them.
std::vector<std::string> given_options(const CLI::App& command);

/// Those of `given` (names of the table) that cannot have an effect on such a solve, in the table's order.
std::vector<IdleOption> idle_options(const std::vector<std::string>& given, const SolveMakeup& makeup);

/// "--restart has no effect: REASON"
std::string idle_text(const IdleOption& idle);

/// An array of objects: option, and reason.
Json idle_json(const std::vector<IdleOption>& idle);

/// One sentence for each of them.
std::vector<std::string> idle_warnings(const std::vector<std::string>& given, const SolveMakeup& makeup);

/// Prints `PROGRAM: warning: SENTENCE` on stderr, a line each.
void print_warnings(const std::vector<std::string>& warnings, const char* program = "purlin");

}  // namespace purlin::cli
