// SPDX-License-Identifier: Apache-2.0
/// BatchSolver: a Krylov method that iterates on several right-hand sides together.
#pragma once

#include <vector>

#include <newel/solver/krylov.hpp>

namespace newel {

namespace detail {
class ColumnProgress;
}

/// Made once for a number of unknowns. A solve with no more columns than an earlier one allocates nothing in S.
template <class T, Space S>
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;

  /// Solves A x_c = b_c for `columns` columns, stored one after another in b and x, and returns a report for each.
  /// The time limit applies to all columns together; `seconds` is the time from a column's start to its end. With the
  /// guess `zero`, x must hold zeros.
  virtual std::vector<SolveReport> solve(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                         const LinearOperator<T, S>* M, Span<const T, S> b, Span<T, S> x,
                                         Index columns, const StopCriterion& stop, detail::ColumnProgress& progress,
                                         InitialGuess guess) = 0;
};

}  // namespace newel
