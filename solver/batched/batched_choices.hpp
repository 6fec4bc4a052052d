// SPDX-License-Identifier: Apache-2.0
/// What the options of a batch come to: lines of the tables and limits, checked. Internal.
#pragma once

#include <vector>

#include <newel/solver/batched_system.hpp>
#include "solver/batched/batched_methods.hpp"

namespace newel::detail {

/// One attempt: a line of `batched_methods`, and the systems that it is about.
struct PlannedAttempt {
  int method;
  BatchedFilter filter;
};

struct BatchedChoices {
  std::vector<PlannedAttempt> attempts;
  BatchedLimits limits;
  BatchedNeeds needs;  ///< of all attempts

  /// Whether systems are told apart by their symmetry.
  bool marks_definite() const { return attempts.size() > 1; }
};

/// Throws InputError for numbers out of range.
void check_limits(double rel_tol, double abs_tol, int max_iterations);

/// Throws InputError for names that the tables do not have, and numbers out of range.
BatchedChoices choose(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern,
                      const BatchedOptions& options);

}  // namespace newel::detail
