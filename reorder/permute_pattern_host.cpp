// SPDX-License-Identifier: Apache-2.0
// The permuted pattern on the host: each row's new columns are sorted together with their places in the old row.
#include "reorder/permute_pattern.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>
#include "core/threads/row_scratch.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {

PermutedPattern<Space::host> permute_pattern(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                             Span<const Index, Space::host> old_of_new,
                                             Span<const Index, Space::host> new_of_old) {
  PermutedPattern<Space::host> p;
  p.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  p.row_ptr[a.rows] = 0;
  parallel_for(ctx, a.rows,
               [&](Index i) { p.row_ptr[i] = a.row_begin(old_of_new[i] + 1) - a.row_begin(old_of_new[i]); });
  exclusive_sum(ctx, p.row_ptr);
  p.col = Array<Index, Space::host>(ctx, a.nnz());
  p.source = Array<Offset, Space::host>(ctx, a.nnz());
  // A column and its place in one number that sorts by the column.
  RowScratch<std::uint64_t> rows(ctx, a);
  const auto permute_row = [&](Index i, int member) {
    std::vector<std::uint64_t>& row = rows.of(member);
    const Offset begin = a.row_begin(old_of_new[i]), to = p.row_ptr[i], length = p.row_ptr[i + 1] - to;
    row.clear();
    for (Offset k = 0; k < length; ++k) {
      row.push_back(std::uint64_t{static_cast<std::uint32_t>(new_of_old[a.col[begin + k]])} << 32 |
                    static_cast<std::uint32_t>(k));
    }
    std::sort(row.begin(), row.end());
    for (Offset k = 0; k < length; ++k) {
      p.col[to + k] = static_cast<Index>(row[static_cast<std::size_t>(k)] >> 32);
      p.source[to + k] = begin + static_cast<Offset>(row[static_cast<std::size_t>(k)] & 0xffffffffu);
    }
  };
  constexpr std::int64_t sorted_rows = 128;  // of a thread, at least
  parallel_for(ctx, a.rows, permute_row, sorted_rows);
  return p;
}

}  // namespace newel::detail
