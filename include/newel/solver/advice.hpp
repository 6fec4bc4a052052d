// SPDX-License-Identifier: Apache-2.0
/// Advice: one thing to try after a solve that did not converge, in the wording of the interface that asks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <newel/precond/preconditioner.hpp>
#include <newel/solver/linear_system.hpp>
#include <newel/solver/system_facts.hpp>

namespace newel {

/// Input of the advice rules.
struct AdviceInput {
  const SolveReport& report;        ///< of the solve, with its attempts
  const SystemOptions& options;     ///< as given, with the stop criterion of this solve
  SystemFacts facts = {};           ///< of the system
  std::string preconditioner = {};  ///< the last one of the solve, or "none"; empty: the one in the options
  bool single_precision = false;    ///< the system is in single precision
};

/// How an interface writes the parts of an advice.
struct AdviceWords {
  /// Writes settings to change together: "--solver gmres --restart 100". Keys are "solver", "restart",
  /// "preconditioner", "max_iterations", "time_limit", "rtol", "precision", "null_space", and the keys of the
  /// preconditioners' options.
  std::function<std::string(const std::vector<SettingChange>&)> settings;
  std::string inspect;  ///< how to inspect the matrix: "newel info"
  std::string resume;   ///< how to continue from the returned x, as a complete piece of advice
  Index first_row = 1;  ///< number of the first row: 0 or 1
};

/// One line: settings that have not failed in this solve yet, with the reason; or what to change in the system. Empty
/// if the solve converged. The rules are a table from what happened to what helps: `solver/policy/advice_rules.cpp`.
std::string advice_text(const AdviceInput& input, const AdviceWords& words);

/// A defect of the matrix itself, as a clause that follows the reason of a failed solve: "row 7 of A holds no value
/// other than 0, and b is not 0 there". Empty if there is none.
std::string defect_text(const SystemFacts& facts, const AdviceWords& words);

/// The reason of a failed solve, followed by the clause `defect`. For `Cause::zero_row`, the clause replaces the
/// unnumbered rows in the reason.
std::string reason_text(const SolveReport& report, const std::string& defect);

}  // namespace newel
