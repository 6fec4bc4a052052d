// SPDX-License-Identifier: Apache-2.0
/// BatchSolver: a Krylov method that iterates on several right-hand sides side by side.
#pragma once

#include <vector>

#include <newel/solver/krylov.hpp>

namespace newel {

namespace detail {
class ColumnProgress;
}

/// Made once for a number of unknowns; a solve for no more columns than one before allocates nothing in S.
template <class T, Space S>
class BatchSolver {
 public:
  virtual ~BatchSolver() = default;

  /// Solves A x_c = b_c for `columns` columns, which lie one after the other in b and x; a report for each. The time
  /// limit is that of all together; `seconds` are those from a column's start to its end. With the
  /// guess `zero`, x holds zeros.
  virtual std::vector<SolveReport> solve(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                         const LinearOperator<T, S>* M, Span<const T, S> b, Span<T, S> x,
                                         Index columns, const StopCriterion& stop, detail::ColumnProgress& progress,
                                         InitialGuess guess) = 0;
};

}  // namespace newel
