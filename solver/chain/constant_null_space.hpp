// SPDX-License-Identifier: Apache-2.0
/// ConstantNullSpace: a system whose matrix maps the vector of ones to zero. Internal.
#pragma once

#include <newel/solver/krylov.hpp>
#include "solver/krylov/monitor/null_space.hpp"

namespace newel::detail {

/// Takes the mean out of x, and out of b where no x produces it.
template <class T, Space S>
class ConstantNullSpace {
 public:
  /// For n unknowns; M may be null and outlives this.
  ConstantNullSpace(const Context<S>& ctx, Index n, const LinearOperator<T, S>* M) : M_(ctx, n, M) {}

  /// M that leaves no mean in x.
  const LinearOperator<T, S>* precond() const { return &M_; }
  void set_inner(const LinearOperator<T, S>* M) { M_.set_inner(M); }
  /// A has other values: `check` looks again.
  void values_changed() { known_ = false; }
  /// Throws InputError unless A maps the constant vector to zero, and finds out whether its columns sum to zero too.
  /// Uses two vectors of work.
  void check(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> v, Span<T, S> w);
  void remove_mean(const Context<S>& ctx, Span<T, S> x) const { M_.remove_mean(ctx, x); }
  /// |the part of b that no x can produce|, 0 where that is within the tolerance; then `projected` holds the rest of
  /// b.
  double split_off(const Context<S>& ctx, Span<const T, S> b, const StopCriterion& stop, Span<T, S> projected) const;

 private:
  ZeroMeanPrecond<T, S> M_;
  bool range_has_mean_zero_ = false, known_ = false;
};

/// Counts the part of b outside the range that was split off from it: x is the least-squares solution, as far as it
/// goes, because that part is orthogonal to the rest.
void count_part_outside(SolveReport& report, double outside, double rhs_norm, const StopCriterion& stop);

}  // namespace newel::detail
