// SPDX-License-Identifier: Apache-2.0
/// Where sums leave a rank: nothing happens in a context that shares its system with no other. Internal.
#pragma once

#include <newel/core/communicator.hpp>
#include <newel/core/context.hpp>

namespace newel::detail {

/// values[k] becomes the sum over all ranks, the same bits on each.
inline void sum_over_ranks(const Context<Space::host>& ctx, double* values, int count) {
  if (ctx.ranks() != nullptr) ctx.ranks()->communicator->sum(values, count);
}

/// values[k] becomes the largest of all ranks, or NaN if one of them is NaN.
inline void max_over_ranks(const Context<Space::host>& ctx, double* values, int count) {
  if (ctx.ranks() != nullptr) ctx.ranks()->communicator->max(values, count);
}

/// Nothing: ranks share vectors on the host alone.
inline void sum_over_ranks(const Context<Space::device>&, double*, int) {}

/// Rows of the whole system, of which this context has `rows`.
template <Space S>
std::int64_t all_rows(const Context<S>& ctx, std::int64_t rows) {
  return ctx.ranks() != nullptr ? ctx.ranks()->all_rows : rows;
}

/// The number in the whole system of the first row that this context has.
template <Space S>
std::int64_t first_row(const Context<S>& ctx) {
  return ctx.ranks() != nullptr ? ctx.ranks()->first_row : 0;
}

}  // namespace newel::detail
