// SPDX-License-Identifier: Apache-2.0
// Columns in and out of batches.
#include "core/vectors/column_ops.hpp"

#include <string>

#include <newel/core/error.hpp>
#include "core/vectors/column_ops_steps.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel {
namespace {

void check(std::int64_t n, int k, int c, std::int64_t batch) {
  if (n * k == batch && c >= 0 && c < k) return;
  throw InputError("column " + std::to_string(c) + " of " + std::to_string(k) + " with " + std::to_string(n) +
                   " entries does not match a batch of " + std::to_string(batch) + " values");
}

}  // namespace

template <class T, Space S>
void put_column(const Context<S>& ctx, Span<const T, S> x, int k, int c, Span<T, S> batch) {
  check(x.size, k, c, batch.size);
  if (x.size == 0) return;
  detail::sweep(ctx, x.size, detail::StridedCopyStep<T>(x.data, 1, batch.data + c, k));
}

template <class T, Space S>
void take_column(const Context<S>& ctx, Span<const T, S> batch, int k, int c, Span<T, S> x) {
  check(x.size, k, c, batch.size);
  if (x.size == 0) return;
  detail::sweep(ctx, x.size, detail::StridedCopyStep<T>(batch.data + c, k, x.data, 1));
}

template <class T, Space S>
void dot_columns(const Context<S>& ctx, int k, Span<const T, S> x, Span<const T, S> y, double* result) {
  using namespace detail;
  if (x.size != y.size || (k != 1 && k != 2 && k != 4 && k != 8) || x.size % k != 0) {
    throw InputError("dot products of " + std::to_string(k) + " columns in batches of " + std::to_string(x.size) +
                     " and " + std::to_string(y.size) + " values");
  }
  const std::int64_t n = x.size / k;
  if (k == 1) return sweep_columns(ctx, n, ColumnDotStep<T, 1>{x.data, y.data, result});
  if (k == 2) return sweep_columns(ctx, n, ColumnDotStep<T, 2>{x.data, y.data, result});
  if (k == 4) return sweep_columns(ctx, n, ColumnDotStep<T, 4>{x.data, y.data, result});
  sweep_columns(ctx, n, ColumnDotStep<T, 8>{x.data, y.data, result});
}

#define X(T, S)                                                                         \
  template void put_column(const Context<S>&, Span<const T, S>, int, int, Span<T, S>);  \
  template void take_column(const Context<S>&, Span<const T, S>, int, int, Span<T, S>); \
  template void dot_columns(const Context<S>&, int, Span<const T, S>, Span<const T, S>, double*);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
