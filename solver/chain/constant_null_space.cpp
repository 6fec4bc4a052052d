// SPDX-License-Identifier: Apache-2.0
// The constant null space that is named.
#include "solver/chain/constant_null_space.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/chain/attempts.hpp"

namespace newel::detail {

void count_part_outside(SolveReport& report, double outside, double rhs_norm, const StopCriterion& stop) {
  if (!(outside > 0)) return;
  report.rhs_norm = rhs_norm;
  report.initial_residual = std::hypot(report.initial_residual, outside);
  report.tolerance = std::max(stop.rel_tol * rhs_norm, stop.abs_tol);
  if (!report.converged() && report.status != Status::stagnation) return;
  overrule(report, Status::stagnation, {Cause::outside_range, Subject::none, report.relative(outside)});
}

template <class T, Space S>
void ConstantNullSpace<T, S>::check(const Context<S>& ctx, const LinearOperator<T, S>& A, Span<T, S> v,
                                    Span<T, S> w) {
  if (known_) return;
  if (all_rows(ctx, A.rows()) > 0 && !M_.is_null_vector_of(ctx, A, v, w)) {
    throw InputError("the matrix does not map the constant vector to zero, so the constant is not in its null space");
  }
  // Symmetric matrices, and others whose columns sum to zero: the image of any vector shows it.
  const auto [constant, length] = M_.constant_part(ctx, Span<const T, S>(w));
  range_has_mean_zero_ = constant <= M_.rounding * length;
  known_ = true;
}

template <class T, Space S>
double ConstantNullSpace<T, S>::split_off(const Context<S>& ctx, Span<const T, S> b, const StopCriterion& stop,
                                          Span<T, S> projected) const {
  if (!range_has_mean_zero_ || all_rows(ctx, b.size) == 0) return 0;
  const auto [constant, length] = M_.constant_part(ctx, b);
  if (!(constant > std::max(stop.rel_tol * length, stop.abs_tol))) return 0;
  copy<T>(ctx, b, projected);
  M_.remove_mean(ctx, projected);
  return constant;
}

#define X(T, S) template class ConstantNullSpace<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
