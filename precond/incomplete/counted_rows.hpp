// SPDX-License-Identifier: Apache-2.0
/// A pattern made of rows of known length. Internal.
#pragma once

#include <newel/core/parallel.hpp>
#include "precond/sparsity.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {

/// Row i has length(i) entries, which fill(i, columns) writes. Parallel by rows.
template <class Length, class Fill>
Sparsity counted_rows(const Context<Space::host>& ctx, Index rows, const Length& length, const Fill& fill) {
  constexpr std::int64_t few_rows = 256;
  Sparsity result;
  result.rows = result.cols = rows;
  result.row_ptr = Array<Offset, Space::host>(ctx, Offset{rows} + 1);
  parallel_for(
      ctx, rows, [&](Index i) { result.row_ptr[i] = length(i); }, few_rows);
  result.row_ptr[rows] = 0;
  exclusive_sum(ctx, result.row_ptr);
  result.col = Array<Index, Space::host>(ctx, result.row_ptr[rows]);
  parallel_for(
      ctx, rows, [&](Index i) { fill(i, result.col.data() + result.row_ptr[i]); }, few_rows);
  return result;
}

}  // namespace newel::detail
