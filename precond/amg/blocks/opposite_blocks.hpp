// SPDX-License-Identifier: Apache-2.0
/// OppositeBlocks: block (j, i) for block (i, j) of a square pattern, without a transposed one; or of one with more
/// columns, for j < rows. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// For the rows of a range, which are taken in ascending order: the opposites of their blocks then come in the order
/// in which they stand in their rows, and a place in each row is all that is kept.
class OppositeBlocks {
 public:
  /// For rows from `first` on.
  OppositeBlocks(const HostBlockPattern& a, Index first)
      : row_ptr_(a.row_ptr.data()),
        col_(a.col.data()),
        first_(first),
        blocks_(a.blocks()),
        next_(static_cast<std::size_t>(a.cols), none) {}

  /// The place of block (j, i), -1 where there is none. Rows i ascend from call to call.
  Offset of(Index i, Index j) {
    Offset& next = next_[static_cast<std::size_t>(j)];
    const Offset end = row_ptr_[j + 1];
    if (next == none) {
      next = row_ptr_[j];
      if (first_ > 0) next = std::lower_bound(col_ + next, col_ + end, first_) - col_;
    }
    while (next < end && col_[next] < i) ++next;
    return next < end && col_[next] == i ? next : none;
  }

  /// Asks for what the opposites of the blocks after block k need: rows of meshes are often in no order.
  void prefetch(Offset k) const {
    constexpr Offset place_ahead = 32, row_ahead = 16;
    if (k + place_ahead >= blocks_) return;
    __builtin_prefetch(&next_[static_cast<std::size_t>(col_[k + place_ahead])]);
    const Offset next = next_[static_cast<std::size_t>(col_[k + row_ahead])];
    if (next != none) __builtin_prefetch(col_ + next);
  }

 private:
  static constexpr Offset none = -1;
  const Offset* row_ptr_;
  const Index* col_;
  Index first_;
  Offset blocks_;
  std::vector<Offset> next_;
};

}  // namespace newel::detail
