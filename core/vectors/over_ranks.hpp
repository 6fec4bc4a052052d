// SPDX-License-Identifier: Apache-2.0
/// Where sums leave a rank: nothing happens in a context that shares its system with no other. Internal.
#pragma once

#include <newel/core/communicator.hpp>
#include <newel/core/context.hpp>

namespace newel::detail {

/// Null if the context is not of a rank. A device context is of the rank of its host context.
template <Space S>
const Ranks* ranks_of(const Context<S>& ctx) {
  return host_context(ctx).ranks();
}

/// values[k], on the host, becomes the sum over all ranks, the same bits on each.
template <Space S>
void sum_over_ranks(const Context<S>& ctx, double* values, int count) {
  if (ranks_of(ctx) != nullptr) ranks_of(ctx)->communicator->sum(values, count);
}

/// values[k], on the host, becomes the largest of all ranks, or NaN if one of them is NaN.
template <Space S>
void max_over_ranks(const Context<S>& ctx, double* values, int count) {
  if (ranks_of(ctx) != nullptr) ranks_of(ctx)->communicator->max(values, count);
}

/// Rows of the whole system, of which this context has `rows`.
template <Space S>
std::int64_t all_rows(const Context<S>& ctx, std::int64_t rows) {
  return ranks_of(ctx) != nullptr ? ranks_of(ctx)->all_rows : rows;
}

/// The number in the whole system of the first row that this context has.
template <Space S>
std::int64_t first_row(const Context<S>& ctx) {
  return ranks_of(ctx) != nullptr ? ranks_of(ctx)->first_row : 0;
}

}  // namespace newel::detail
