// SPDX-License-Identifier: Apache-2.0
/// The arrays of BCE: rows of similar width in blocks, and where each stored number comes from. Section 6.2 of the
/// paper.
#pragma once

#include <vector>

#include <newel/core/machine.hpp>
#include <newel/spmv/cost_model.hpp>
#include "core/vectors/host_device.hpp"
#include "spmv/bce/bce_partition.hpp"
#include "spmv/row_pieces.hpp"

namespace newel {

/// What the layout takes from the machine.
struct BceShape {
  Offset least_rows = 192;  ///< L of section 5.3: what fewer rows than this in a block cost as much as
  Index block_rows = 192;   ///< larger sets are cut into blocks of at most so many rows (end of section 5.6)
  Index lanes = 32;         ///< blocks begin at multiples of so many slots, and are cut at multiples of so many rows
  Index widest = 256;       ///< rows of more entries are not blocked
  Offset piece_slots = 1024;  ///< what one worker takes of such a row
  Index thread_slots = 32;    ///< device: what a thread is to have of a piece, which 4 to 32 of them take
  int batch = 4;              ///< device: slots that a thread has in flight, 4 or 8
};

/// Device: L is the share of a multiprocessor's threads that the paper's 192 is of a K20c's 2048; a thread that adds
/// more than `widest` entries by itself would be at it for longer than a whole product takes. Host: a block is a
/// group of lanes, and rows are cut only where one would leave other threads without work.
BceShape bce_shape(const Machine& machine);

/// The same, and on a device for rows of these lengths: rows that one thread would be at for longer than the others
/// take together are not blocked (`share_rows`), and where the others do not fill the machine they are cut into
/// smaller blocks, two a multiprocessor. L stays.
BceShape bce_shape(const Machine& machine, const RowLengths& lengths, std::size_t value_bytes);

/// A partition into sets C_1 .. C_k, each cut into blocks; the blocks stand in the order of their first rows, so that
/// a sweep over them is one sweep over x. Empty rows are blocks of width 0. Names of the paper in brackets.
struct BceLayout {
  Index rows = 0;
  std::vector<Index> bounds;               ///< M_1 .. M_k
  Array<Index, Space::host> row_no;        ///< [rowNo] rows in blocks: the row that a lane writes
  Array<Index, Space::host> block_row;     ///< [Ap] blocks + 1: each one's first place in row_no
  Array<Index, Space::host> block_width;   ///< [Aw] blocks: slots of a row
  Array<Offset, Space::host> block_slot;   ///< [blockPos] blocks + 1; block b is stored column by column
  detail::RowPieces pieces;                ///< rows wider than any block, behind the blocks, from block_slot's end
  Array<Index, Space::host> col;           ///< [Offset] slots; of a padded one the last column of its row
  Array<Offset, Space::host> slot_source;  ///< slots: position in the CSR [whose value is EData], or -1

  Index blocks() const { return static_cast<Index>(block_width.size()); }
  Offset slots() const { return slot_source.size(); }
};

/// Assigns every row to its set by binary search among `bounds` (Algorithm 3, O(N log k)), which ascend and end at or
/// above the largest width up to `shape.widest`. The same layout whatever the number of threads. O(N log k + nnz).
BceLayout make_bce_layout(const Context<Space::host>& ctx, const Pattern<Space::host>& a, const BceShape& shape,
                          std::vector<Index> bounds);

/// Of a block on a device. With four blocks of the layout in one of 1,024 threads, meshes of 15 entries a row gained
/// 7 % on an H200, elasticity and 7-point grids lost 20 and 7 %.
constexpr int bce_most_threads = 256;

/// How a device's threads take the blocks and the pieces: the pieces first, those of most lanes before the others.
struct BceGrid {
  static constexpr int classes = 4;  ///< pieces of 4, 8, 16 and 32 lanes

  int block_threads = 32;         ///< of a block of the layout: its rows, rounded up to warps
  int groups = 1;                 ///< blocks of the layout that a block of threads takes
  Index piece[classes + 1] = {};  ///< classes + 1: the first piece of each; they are by ascending length
  unsigned piece_blocks = 0;
  unsigned blocks = 0;

  int threads() const { return groups * block_threads; }
  /// Warps that the pieces of a class fill.
  NEWEL_HD Index class_warps(int c) const { return (((piece[c + 1] - piece[c]) << (c + 2)) + 31) / 32; }
};

/// Blocks of up to bce_most_threads threads, as long as every multiprocessor has four of them. For a layout of
/// `shape`.
BceGrid bce_grid(const BceLayout& layout, const BceShape& shape, const Machine& machine);

}  // namespace newel
