// SPDX-License-Identifier: Apache-2.0
/// Options that have no effect on a solve: a warning if the command line alone shows it, a remark if only the solve
/// did. They are not errors: scripts try solvers with one set of options. One table lists what each option applies
/// to.
#pragma once

#include <string>
#include <vector>

#include <newel/core/types.hpp>
#include <newel/solver/system_info.hpp>
#include <newel/solver/system_options.hpp>

#include "json_file.hpp"

namespace CLI {
class App;
}

namespace newel::cli {

/// The configuration of a solve, as far as it is known.
struct SolveConfiguration {
  std::vector<std::string> solvers;  ///< those that may run, or that ran, without "mixed"
  std::string precond;               ///< "auto": not chosen yet
  std::string format;                ///< "auto", "measure": not chosen yet
  bool format_measured = false;      ///< --format measure was requested
  bool choice_left = false;          ///< a format or a preconditioner was left to us
  bool learns = false;               ///< and what earlier systems have learnt may decide it
  bool null_space = false;
  bool single_precision = false;
  bool mixed = false;
  bool on_device = true;        ///< or may be
  bool by_coordinates = false;  ///< the partitioner is `coordinates`
  Index columns = 1;            ///< 1 also where they are not known yet
  bool keeps_past = false;      ///< guesses from past solutions were requested
  bool sequence = false;        ///< several systems are solved one after the other
};

/// As requested on the command line. `device` is the argument of --device.
SolveConfiguration requested_configuration(const SystemOptions& options, bool single_precision,
                                           const std::string& device);
/// The same for a program that solves in every time step.
SolveConfiguration requested_sequence(const SystemOptions& options, const std::string& device);

/// After the choices of the setup. `asked` is the requested configuration.
SolveConfiguration setup_configuration(SolveConfiguration asked, const SystemInfo& system, Space space);

/// After the solves of all columns, with their `reports`.
SolveConfiguration solved_configuration(SolveConfiguration set_up, const std::vector<SolveReport>& reports);

/// An option that was given, and why it has no effect.
struct UnusedOption {
  std::string option;  ///< "--restart"
  std::string reason;  ///< "it applies to --solver gmres, and the solver is cg"
};

/// The options of the table that `command` has and the user gave, as the table names them.
std::vector<std::string> given_options(const CLI::App& command);

/// Those of `given` (names of the table) that cannot have an effect on such a solve, in the table's order.
std::vector<UnusedOption> unused_options(const std::vector<std::string>& given,
                                         const SolveConfiguration& configuration);

/// "--restart has no effect: REASON"
std::string unused_option_text(const UnusedOption& unused);

/// An array of objects: option, and reason.
Json unused_options_json(const std::vector<UnusedOption>& unused);

/// One sentence for each of them.
std::vector<std::string> unused_option_warnings(const std::vector<std::string>& given,
                                                const SolveConfiguration& configuration);

/// Prints `PROGRAM: warning: SENTENCE` on stderr, a line each.
void print_warnings(const std::vector<std::string>& warnings, const char* program = "newel");

}  // namespace newel::cli
