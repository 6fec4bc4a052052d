// SPDX-License-Identifier: Apache-2.0
/// Advice: one thing to try after a solve that did not converge, in the words of the interface that asks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <newel/precond/preconditioner.hpp>
#include <newel/solver/linear_system.hpp>
#include <newel/solver/system_facts.hpp>

namespace newel {

/// What the rules read.
struct AdviceInput {
  const SolveReport& report;        ///< of the solve, with its attempts
  const SystemOptions& options;     ///< as they were given, with the stop criterion of this solve
  SystemFacts facts = {};           ///< of the system
  std::string preconditioner = {};  ///< the one that the solve ended with, or "none"; empty: the one in the options
  bool single_precision = false;    ///< the system is in single precision
};

/// How an interface writes what advice refers to.
struct AdviceWords {
  /// Settings to change together: "--solver gmres --restart 100". Keys are "solver", "restart", "preconditioner",
  /// "max_iterations", "time_limit", "rtol", "precision", "null_space", and those of the preconditioners' options.
  std::function<std::string(const std::vector<SettingChange>&)> settings;
  std::string inspect;  ///< how to look at the matrix: "newel info"
  std::string resume;   ///< how to continue from the x that was returned, a whole piece of advice
  Index first_row = 1;  ///< the number of the first row
};

/// One line: settings that have not failed in this solve already, with the reason, or what to do about the system.
/// Empty where the solve converged. The rules are a table, from what happened to what helps:
/// `solver/policy/advice_rules.cpp`.
std::string advice_text(const AdviceInput& input, const AdviceWords& words);

/// What is wrong with the matrix itself, as a clause to follow the reason of a solve that failed: "row 7 of A holds
/// no value other than 0, and b is not 0 there". Empty where nothing is.
std::string defect_text(const SystemFacts& facts, const AdviceWords& words);

/// The reason of a solve that failed, with that clause, which takes the place of rows that the reason does not
/// number.
std::string reason_text(const SolveReport& report, const std::string& defect);

}  // namespace newel
