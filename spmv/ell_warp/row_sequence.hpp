// SPDX-License-Identifier: Apache-2.0
/// RowSequence: which rows the warps of ELL-WARP take, as they come or sorted by length. Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

struct RowSequence {
  Array<Index, Space::host> shared_row;  ///< the rows that are too long for one warp, ascending
  /// The row at each of `count` positions; empty: position p is row `first + p`.
  Array<Index, Space::host> row_list;
  Index first = 0;
  Index count = 0;

  Index row_at(Index position) const { return row_list.empty() ? first + position : row_list[position]; }
};

/// The rows as they come, those longer than `longest_warp_row` apart. There is a list only where such rows stand
/// between or behind others.
RowSequence given_sequence(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Offset longest_warp_row);

/// The rows of `given` sorted by length in descending order within each window of `window` neighbouring positions,
/// equal lengths in their order (ELL-WARP, section 5.1; its single sort is a window of all rows); with a list. A
/// matrix renumbered so comes sorted. O(rows), and O(longest row) for each window and thread.
RowSequence sorted_sequence(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const RowSequence& given,
                            Index window);

/// Whether the sequence, shared rows first, is 0, 1, 2, ...
bool is_natural(const Context<Space::host>& ctx, const RowSequence& sequence);

}  // namespace newel::detail
