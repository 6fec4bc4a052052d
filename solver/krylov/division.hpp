// SPDX-License-Identifier: Apache-2.0
/// Division: the solver of diagonal matrices, and how these are recognised. Internal.
#pragma once

#include <newel/core/matrix_traits.hpp>
#include <newel/solver/method.hpp>

namespace newel {

/// Its line of the table of solvers.
SolverMethod division_method();

namespace detail {

/// Whether a matrix with these traits and so many rows and entries is diagonal, without a missing entry.
inline bool is_diagonal(const MatrixTraits& traits, Index rows, Offset entries) {
  return traits.square && entries == rows && traits.missing_diagonal.count == 0;
}

/// x + M (b - A x), where A is diagonal and M its inverse: all of a solve but for rounding, without an iteration. Its
/// residual is formed as that of any solver. Where it does not meet the tolerance the step is made once more, and if
/// that does not help either the solve ends with `stagnation`, or `not_finite`.
template <class T, Space S>
class Division final : public KrylovSolver<T, S> {
 public:
  /// Two vectors of n.
  Division(const Context<S>& ctx, Index n) : r_(ctx, n), work_(ctx, n), scratch_(ctx, 1) {}

  std::string_view name() const override { return "division"; }
  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;

 private:
  Array<T, S> r_, work_;
  Array<double, S> scratch_;
};

}  // namespace detail
}  // namespace newel
