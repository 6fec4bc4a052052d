// SPDX-License-Identifier: Apache-2.0
/// Rows that a report names, in the caller's numbering. Internal.
#pragma once

#include <newel/reorder/row_order.hpp>
#include <newel/solver/krylov.hpp>

namespace newel::detail {

/// Of a method that was made from the matrix in solver order as if that were the caller's.
template <Space S>
void name_in_callers_order(const Context<S>& ctx, const RowOrder<S>& order, SolveReport& report) {
  if (report.failure.unmatched_row < 0 || order.natural()) return;
  const std::vector<Index> old_of_new = to_vector(ctx, order.old_of_new.cspan());
  const auto rename = [&](Failure& failure) {
    for (Index* named : {&failure.unmatched_row, &failure.unmatched_column}) {
      if (*named >= 0) *named = old_of_new[static_cast<std::size_t>(*named)];
    }
  };
  rename(report.failure);
  for (Attempt& attempt : report.attempts) rename(attempt.failure);
}

}  // namespace newel::detail
