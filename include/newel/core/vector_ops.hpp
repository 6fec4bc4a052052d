// SPDX-License-Identifier: Apache-2.0
/// Vector operations in both spaces. Results of reductions are always double and stored in the vectors' space, so
/// that a device solver need not wait for them.
#pragma once

#include <newel/core/csr.hpp>

namespace newel {

namespace detail {
/// Throws InputError if they differ.
void require_values(Offset expected, Offset found);
}  // namespace detail

// All lengths must agree; otherwise InputError is thrown. Every function queues its work on the context's stream and
// returns (the host variants return when done) and allocates nothing. It may be captured in a CUDA graph, which is
// then launched on the context's stream or while that stream is idle, because reductions share the context's scratch
// memory. Reductions add in a fixed order: the same bits for the same machine and length; on the host for any number
// of threads.

/// x_i = value
template <class T, Space S>
void fill(const Context<S>& ctx, T value, Span<T, S> x);

/// x = alpha x; alpha = 0 writes zeros without reading x.
template <class T, Space S>
void scale(const Context<S>& ctx, T alpha, Span<T, S> x);

/// y = y + alpha x
template <class T, Space S>
void axpy(const Context<S>& ctx, T alpha, Span<const T, S> x, Span<T, S> y);

/// y = alpha x + beta y; beta = 0 does not read y.
template <class T, Space S>
void axpby(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y);

/// y_i = alpha d_i x_i + beta y_i; beta = 0 does not read y. y may be x.
template <class T, Space S>
void multiply(const Context<S>& ctx, T alpha, Span<const T, S> d, Span<const T, S> x, T beta, Span<T, S> y);

/// y_i = d_i x_i and *xy = x.y in one pass; y may not be x.
template <class T, Space S>
void multiply_dot(const Context<S>& ctx, Span<const T, S> d, Span<const T, S> x, Span<T, S> y, double* xy);

/// *result = x.y
template <class T, Space S>
void dot(const Context<S>& ctx, Span<const T, S> x, Span<const T, S> y, double* result);

/// *result = (x.x)^(1/2)
template <class T, Space S>
void norm2(const Context<S>& ctx, Span<const T, S> x, double* result);

/// *result = max |x_i|; 0 for no entries; NaN if an entry is NaN.
template <class T>
void max_abs(const Context<Space::host>& ctx, Span<const T, Space::host> x, double* result);
template <class T>
void max_abs(const Context<Space::device>& ctx, Span<const T, Space::device> x, double* result);

/// *result = sum of x_i
template <class T, Space S>
void sum(const Context<S>& ctx, Span<const T, S> x, double* result);

/// x_i = x_i - (*total) / n: removes the mean; `total`, in S, is the sum of x.
template <class T, Space S>
void subtract_mean(const Context<S>& ctx, const double* total, Span<T, S> x);

/// y_i = x[from_i]; indices are not checked. y must not overlap x.
template <class T, Space S>
void gather(const Context<S>& ctx, Span<const T, S> x, Span<const Index, S> from, Span<T, S> y);

/// y_k = values[map(k)], or 0 for `none`; the identity map copies. Positions are not checked.
template <class T, Space S>
void gather(const Context<S>& ctx, Span<const T, S> values, const ValueMap<S>& map, Span<T, S> y);

/// y_k = sum of values[source_e] over first_k <= e < first_{k+1}, in that order; no segment is empty. `first` has one
/// more entry than y. Positions in `first` and `source` are not checked.
template <class T, Space S>
void gather_sum(const Context<S>& ctx, Span<const T, S> values, Span<const Offset, S> first,
                Span<const Offset, S> source, Span<T, S> y);

/// y_i = x_i converted from one precision to the other.
template <class From, class To, Space S>
void convert(const Context<S>& ctx, Span<const From, S> x, Span<To, S> y);

/// Reads the value at a pointer into S. On the device waits for the stream.
template <class T, Space S>
T fetch(const Context<S>& ctx, const T* value) {
  T result{};
  copy<T>(ctx, Span<const T, S>(value, 1), Span<T, Space::host>(&result, 1));
  return result;
}

}  // namespace newel
