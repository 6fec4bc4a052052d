// SPDX-License-Identifier: Apache-2.0
/// The inverses of all blocks of block Jacobi in one pass, for both spaces. Internal.
#pragma once

#include <cstdint>
#include <limits>

#include <newel/core/context.hpp>
#include <newel/core/types.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// A pivot is rounding below this share of the largest entries of its row and of its column, as they were at first.
inline constexpr double least_block_pivot = 32 * std::numeric_limits<double>::epsilon();

/// What the pass over the blocks reads and writes, in S. `Position` is std::uint32_t or Offset; all its bits: an
/// entry is not stored.
template <class T, class Position>
struct BlockInverses {
  Index blocks;
  const Index* first;
  const Offset* offset;
  const T* values;
  const Position* position;  ///< null: `values` are the entries of the blocks
  T* inverse;                ///< of each block, by columns
  int* singular;             ///< the number of singular blocks, which begins with 0

  NEWEL_HD double entry(Offset e) const {
    if (position == nullptr) return static_cast<double>(values[e]);
    if (position[e] == static_cast<Position>(-1)) return 0;
    return static_cast<double>(values[static_cast<Offset>(position[e])]);
  }
};

/// What stands for the inverse of a singular block: the inverse of its diagonal, or 1 for an entry without one.
NEWEL_HD double inverse_of_diagonal(double entry) {
  const double inverse = 1 / entry;
  return inverse - inverse == 0 && inverse != 0 ? inverse : 1.0;
}

/// Inverts every block by Gauss-Jordan elimination with row pivoting, in double. The inverse of a symmetric block is
/// symmetric. Where a pivot is rounding, or an entry of the inverse is not finite in T, the diagonal is inverted
/// instead and `*singular` counts it.
template <class T, class Position>
void invert_blocks(const Context<Space::host>& ctx, const BlockInverses<T, Position>& of);
template <class T, class Position>
void invert_blocks(const Context<Space::device>& ctx, const BlockInverses<T, Position>& of);

}  // namespace newel::detail
