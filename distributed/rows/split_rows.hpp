// SPDX-License-Identifier: Apache-2.0
/// The rows of a rank, told apart by whether they need values of other ranks. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include <newel/core/span.hpp>
#include <newel/core/types.hpp>

namespace newel::detail {

/// Some of the rows, as CSR with columns that ascend.
struct RowPart {
  std::vector<Offset> row_ptr{0};
  std::vector<Index> col;
  std::vector<Offset> source;  ///< of each entry: its position among the caller's values
};

/// Rank order: first the rows whose columns are all of this rank, then the others; each kind in the caller's order.
/// An order may also be given, as for a preconditioner, whose vectors are in that of A: the first rows of it whose
/// columns are all of this rank are then the first kind.
struct RowSplit {
  std::vector<Index> old_of_new;     ///< the caller's number of each row in rank order, from 0
  std::vector<Index> new_of_old;     ///< the way back
  RowPart inner;                     ///< the first kind; columns are rows in rank order
  RowPart border;                    ///< the others; columns are places in `read`, then in `ghosts`
  std::vector<Index> read;           ///< rows in rank order that `border` reads, ascending
  std::vector<std::int64_t> ghosts;  ///< rows of other ranks that it reads, numbers of the whole system, ascending
  std::vector<Offset> diagonal;      ///< of each row in rank order: the position of its diagonal entry; -1: none

  Index inner_rows() const { return static_cast<Index>(inner.row_ptr.size()) - 1; }
  Index border_rows() const { return static_cast<Index>(border.row_ptr.size()) - 1; }
};

/// Throws InputError that names the row, counted from 0 in the whole, where `row_ptr` decreases or does not end at
/// the number of columns, and where columns do not ascend strictly or are not in [0, all_rows).
void check_rank_rows(Span<const Offset, Space::host> row_ptr, Span<const std::int64_t, Space::host> col,
                     std::int64_t first_row, std::int64_t all_rows);

/// `row_ptr` has an entry more than rows, which are rows first_row, first_row + 1, ... of a whole of `all_rows`.
/// Throws as check_rank_rows. `order`, where not null: `old_of_new`, empty for the caller's order.
RowSplit split_rows(Span<const Offset, Space::host> row_ptr, Span<const std::int64_t, Space::host> col,
                    std::int64_t first_row, std::int64_t all_rows,
                    const Span<const Index, Space::host>* order = nullptr);

}  // namespace newel::detail
