// SPDX-License-Identifier: Apache-2.0
/// Where the rows of a BCE matrix lie, for residuals. Internal.
#pragma once

#include "spmv/bce/bce.hpp"
#include "spmv/residual.hpp"

namespace newel::detail {

/// Places: the rows of blocks as `row_no` has them, the long rows of one piece, the long rows of several.
template <class T>
struct BceWalk {
  BceView<T> a;
  Index whole;  ///< long rows of one piece, which are the first pieces

  NEWEL_HD Index blocked() const { return a.rows - whole - a.join.rows; }
  NEWEL_HD std::int64_t places() const { return a.rows; }
  NEWEL_HD bool is_long(std::int64_t place) const { return place >= blocked(); }
  NEWEL_HD Offset entries(std::int64_t place) const {
    if (!is_long(place)) return a.block_width[block_of(place)];
    return end_of(place) - begin_of(place);
  }
  template <class F>
  NEWEL_HD Index row(std::int64_t place, int member, int members, F& f) const {
    if (is_long(place)) {
      const Offset begin = begin_of(place);
      walk_run(a.piece_val + begin, a.piece_col + begin, 1, end_of(place) - begin, member, members, f);
      const Index long_row = static_cast<Index>(place) - blocked();
      return long_row < whole ? a.piece_row[long_row] : a.join.row[long_row - whole];
    }
    const Index b = block_of(place), begin = a.block_row[b], rows = a.block_row[b + 1] - begin;
    const Offset slot = a.block_slot[b] + (place - begin);
    walk_run(a.val + slot, a.col + slot, rows, a.block_width[b], member, members, f);
    return a.row_no[place];
  }

 private:
  NEWEL_HD Index block_of(std::int64_t place) const { return last_at_or_below(a.block_row, a.blocks, place); }
  NEWEL_HD Index piece_of(Index long_row) const {
    return long_row < whole ? long_row : a.join.first[long_row - whole];
  }
  NEWEL_HD Offset begin_of(std::int64_t place) const {
    return a.piece_slot[piece_of(static_cast<Index>(place) - blocked())];
  }
  NEWEL_HD Offset end_of(std::int64_t place) const {
    return a.piece_slot[piece_of(static_cast<Index>(place) - blocked() + 1)];
  }
};

}  // namespace newel::detail
