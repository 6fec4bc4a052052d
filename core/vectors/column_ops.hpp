// SPDX-License-Identifier: Apache-2.0
/// Batches of interleaved vectors: columns in and out, and their dot products. As in vector_ops.hpp, nothing is
/// allocated or waited for, and sums have a fixed order.
#pragma once

#include <newel/core/array.hpp>

namespace newel {

// Number i k + c of a batch is entry i of column c. Lengths are checked (InputError); k is 1, 2, 4 or 8, and c below
// it.

/// batch[i k + c] = x_i
template <class T, Space S>
void put_column(const Context<S>& ctx, Span<const T, S> x, int k, int c, Span<T, S> batch);

/// x_i = batch[i k + c]
template <class T, Space S>
void take_column(const Context<S>& ctx, Span<const T, S> batch, int k, int c, Span<T, S> x);

/// result[c] = x_c.y_c for the k columns; on the host with the bits of `dot`.
template <class T, Space S>
void dot_columns(const Context<S>& ctx, int k, Span<const T, S> x, Span<const T, S> y, double* result);

}  // namespace newel
