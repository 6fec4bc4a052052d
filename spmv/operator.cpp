// SPDX-License-Identifier: Apache-2.0
// What operators do unless they know better.
#include <newel/spmv/operator.hpp>

#include <atomic>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/column_ops.hpp"
#include "core/vectors/instantiate.hpp"
#include "spmv/resident_view.hpp"

namespace newel {

detail::Serial::Serial() {
  static std::atomic<std::uint64_t> last{0};
  value_ = ++last;
}

template <class T, Space S>
detail::ResidentView<T, S> LinearOperator<T, S>::resident_view() const {
  return {};
}

template <class T, Space S>
void LinearOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  apply(ctx, T(1), x, T(0), y);
  dot<T, S>(ctx, x, y, xy);
}

// One vector after the other, through the work: x, and behind it y.
template <class T, Space S>
void LinearOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                         Span<T, S> y, Span<char, S> work) const {
  if (columns == 1) return apply(ctx, alpha, x, beta, y);
  const Span<T, S> one_x(reinterpret_cast<T*>(work.data), cols()), one_y(one_x.data + cols(), rows());
  for (int c = 0; c < columns; ++c) {
    take_column<T, S>(ctx, x, columns, c, one_x);
    if (beta != T(0)) take_column<T, S>(ctx, Span<const T, S>(y), columns, c, one_y);
    apply(ctx, alpha, Span<const T, S>(one_x), beta, one_y);
    put_column<T, S>(ctx, Span<const T, S>(one_y), columns, c, y);
  }
}

template <class T, Space S>
void LinearOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                             double* xy, Span<char, S> work) const {
  if (columns == 1) return apply_dot(ctx, x, y, xy);
  const Span<T, S> one_x(reinterpret_cast<T*>(work.data), cols()), one_y(one_x.data + cols(), rows());
  for (int c = 0; c < columns; ++c) {
    take_column<T, S>(ctx, x, columns, c, one_x);
    apply_dot(ctx, Span<const T, S>(one_x), one_y, xy + c);
    put_column<T, S>(ctx, Span<const T, S>(one_y), columns, c, y);
  }
}

template <class T, Space S>
std::uint64_t LinearOperator<T, S>::column_work_bytes(int columns) const {
  return columns == 1 ? 0 : sizeof(T) * (static_cast<std::uint64_t>(rows()) + static_cast<std::uint64_t>(cols()));
}

template <class T, Space S>
Slots<T, S> MatrixOperator<T, S>::slots(const Context<S>&) {
  throw InputError("the values of " + info().name + " cannot be written in place");
}

template <class T, Space S>
void MatrixOperator<T, S>::slots_written(const Context<S>&) {}

#define X(T, S)                        \
  template class LinearOperator<T, S>; \
  template class MatrixOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
