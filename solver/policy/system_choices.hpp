// SPDX-License-Identifier: Apache-2.0
/// SystemChoices: what was chosen for a system, and the facts that it was chosen by. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <newel/core/located_text.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/solver/choice.hpp>
#include <newel/spmv/format_choice.hpp>
#include "precond/fourth_order.hpp"
#include "solver/cost/convection.hpp"
#include "solver/cost/couplings.hpp"
#include "solver/policy/forecasts.hpp"

namespace newel::detail {

/// By what the seconds of the setups of stronger preconditioners are estimated; `pattern_alone`: there is no memory
/// to read the values.
enum class BuildEstimates { none, pattern, pattern_alone, values };

/// What the values of a matrix say, with more of it for some.
struct ValueTraits : MatrixTraits {
  ValueTraits(const MatrixTraits& traits) : MatrixTraits(traits) {}

  std::optional<ConvectionTraits> convection;  ///< if they look like it, and iterations were expected
  std::optional<CouplingTraits> couplings;     ///< if they are symmetric, and likewise
  std::optional<ConstraintKind> constraints;   ///< if they look like a symmetric saddle point's, and that was asked

  /// `constraints` of `a`, whose traits these are.
  template <class T>
  ConstraintKind constraints_of(const CsrView<T, Space::host>& a) {
    return constraints ? *constraints : constraints.emplace(constraint_kind(a));
  }
};

/// Plain values: a system in another format begins with a copy.
struct SystemChoices {
  FormatChoice format;
  SolverChoice solvers;
  SolverChoice usual_solvers;  ///< if `solvers` are for the present preconditioner alone; empty: they are not
  LocatedText precond_reason;
  std::vector<std::string> untried;   ///< preconditioners that "auto" has not tried yet
  std::optional<PatternFacts> facts;  ///< where something is chosen by them
  std::optional<ValueTraits> traits;  ///< likewise
  bool traits_older = false;          ///< than A's values
  bool precond_older = false;         ///< likewise
  bool precond_chosen = false;        ///< by "auto"
  bool diagonal = false;              ///< A, and "auto" has all the choice
  bool to_weigh = false;              ///< formats and stronger preconditioners, once a solve is long enough
  bool order_follows = false;         ///< the order in the options is that of a format still to come

  double expected_iterations = 0;     ///< of one solve, with the simple preconditioner
  std::string expected_format;        ///< that these pay for; empty: the present one
  std::string formats_estimated_for;  ///< with this preconditioner

  bool provisional = false;                      ///< a stronger preconditioner may follow
  std::optional<PrecondOutlooks> outlooks;       ///< which, once that has been worked out
  BuildEstimates builds = BuildEstimates::none;  ///< of their setups
  /// Where a stronger one was taken: what is known of the one before it, and what else may follow that.
  std::optional<PrecondOutlooks> weaker_outlooks;
};

/// Rows of a node, as the pattern shows them, or the values if their entries between nodes are not all stored; 1:
/// one, or not known.
inline int node_rows(const SystemChoices& chosen) {
  const int of_pattern = chosen.facts ? static_cast<int>(chosen.facts->block) : 1;
  if (of_pattern > 1 || !chosen.traits || chosen.traits_older || !chosen.traits->couplings) return of_pattern;
  return chosen.traits->couplings->node_rows;
}

}  // namespace newel::detail
