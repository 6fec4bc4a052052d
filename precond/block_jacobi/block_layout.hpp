// SPDX-License-Identifier: Apache-2.0
/// BlockLayout: which rows form a block of block Jacobi, and where the entries of the blocks stand. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The largest block.
inline constexpr int most_block_rows = 32;

/// On the host. Blocks are stored one after the other, by columns.
struct BlockLayout {
  std::vector<Index> first;      ///< of each block, its first row; and the number of rows
  std::vector<Offset> offset;    ///< of each block, where its entries begin; and their number
  std::vector<Index> block_of;   ///< of each row
  std::vector<Offset> position;  ///< of each entry of the blocks, its place in A's values; -1: it is not stored

  /// For a canonical square pattern. `rows_of_block`: see BlockJacobiOptions.
  BlockLayout(const Pattern<Space::host>& a, int rows_of_block);

  Index blocks() const { return static_cast<Index>(first.size()) - 1; }
  int largest() const;
};

}  // namespace newel::detail
