// SPDX-License-Identifier: Apache-2.0
// The default of apply_dot.
#include <purlin/spmv/operator.hpp>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin {

template <class T, Space S>
void LinearOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  apply(ctx, T(1), x, T(0), y);
  dot<T, S>(ctx, x, y, xy);
}

#define X(T, S) template class LinearOperator<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
