// SPDX-License-Identifier: Apache-2.0
// What operators do unless they know better.
#include <purlin/spmv/operator.hpp>

#include <atomic>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin {

detail::Serial::Serial() {
  static std::atomic<std::uint64_t> last{0};
  value_ = ++last;
}

template <class T, Space S>
void LinearOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  apply(ctx, T(1), x, T(0), y);
  dot<T, S>(ctx, x, y, xy);
}

template <class T, Space S>
Slots<T, S> MatrixOperator<T, S>::slots(const Context<S>&) {
  throw InputError("the numbers of " + info().name + " are not open to be written in place");
}

template <class T, Space S>
void MatrixOperator<T, S>::slots_written(const Context<S>&) {}

#define X(T, S)                        \
  template class LinearOperator<T, S>; \
  template class MatrixOperator<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin
