// SPDX-License-Identifier: Apache-2.0
/// What a chain keeps of x, and how it judges one. Internal.
#pragma once

#include <newel/core/vector_ops.hpp>
#include <newel/solver/krylov.hpp>
#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {

/// Room for `size` values, which is kept: later solves allocate nothing.
template <class V, Space S>
void at_least(const Context<S>& ctx, Array<V, S>& array, std::int64_t size) {
  if (array.size() >= size) return;
  array = Array<V, S>();
  array = Array<V, S>(ctx, size);
}

/// The best x so far, or the one that a solve began with.
template <class T, Space S>
struct KeptX {
  Array<T, S> x;
  bool zero = false;  ///< and `x` is not filled

  /// Allocates when it is first called. Throws OutOfMemory.
  void keep(const Context<S>& ctx, Span<const T, S> from) {
    at_least(ctx, x, from.size);
    zero = false;
    copy<T>(ctx, from, x.span());
  }
  void restore(const Context<S>& ctx, Span<T, S> to) const {
    if (zero) return fill<T, S>(ctx, T(0), to);
    copy<T>(ctx, x.cspan(), to);
  }
};

/// Forms the residual of an x that is returned, and may be none of the last attempt's.
template <class T, Space S>
struct ReturnedResidual {
  Array<T, S> image;        ///< b - A x of the last one; scratch between
  Array<double, S> scalar;  ///< what sums and norms leave

  /// Writes the residual of x, proven where it can be, into the report.
  void judge(const Context<S>& ctx, const LinearOperator<T, S>& A, SolveReport& report, Span<const T, S> b,
             Span<const T, S> x) {
    at_least(ctx, image, A.rows());
    at_least(ctx, scalar, 1);
    const TrueResidual found = true_residual<T, S>(ctx, A, b, x, report.rhs_norm, 0, image.span(), scalar.data());
    report.true_residual = found.norm;
    if (found.proven) report.residual_error_bound = found.error_bound;
    report.twice_precision = found.proven;
    report.row_residual = found.worst_row;
  }
};

}  // namespace newel::detail
