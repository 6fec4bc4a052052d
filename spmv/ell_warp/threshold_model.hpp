// SPDX-License-Identifier: Apache-2.0
/// What the ELL-WARP paper leaves open, chosen before anything is built: the threshold, from the lengths of the rows,
/// and the block size. Internal.
#pragma once

#include <vector>

#include <newel/core/machine.hpp>
#include "spmv/ell_warp/ell_warp_layout.hpp"

namespace newel::detail {

/// What a layout would hold.
struct EllWarpCounts {
  Offset steps = 0;       ///< of all warps together: slots / width
  Offset warps = 0;       ///< of 2^-k width rows each, or fewer
  Offset reductions = 0;  ///< sum of k over the warps
  Offset longest = 0;     ///< steps of the longest warp
};

/// What the layouts of all thresholds would hold, shared rows left out. Entry t - 1 is for threshold t, up to the
/// longest row that a warp takes (at least one entry), beyond which nothing changes. A half, a quarter, ... of a
/// group of rows is a warp for the thresholds from its own share to the one below that of its parent; so all
/// thresholds are counted in one pass. O(rows log2(width)), and O(t^2) for the longest row t.
std::vector<EllWarpCounts> count_for_each_threshold(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                                    const RowSequence& sequence, Index width);

/// What the model knows of a machine. Its unit of time is one step of a warp that has the machine to itself: the wait
/// for one line of slots and the x that they ask for.
struct ThresholdWeights {
  double bus_warps = 1;   ///< warps whose steps fill the memory bus, or the bandwidth of a device's second-level
                          ///< cache
  double slot_warps = 1;  ///< warps that are resident at the same time
  double warp_bytes = 0;  ///< what the values of a warp take of the bus, in steps
  double warp_start = 0;  ///< wait for the values of a warp, and its end, in steps
  double reduction = 0;   ///< a shuffle and an addition that waits for it, in steps

  /// For a matrix of so many entries. The README of the format says where the constants come from.
  static ThresholdWeights of(const Machine& machine, Offset nonzeros, std::size_t value_bytes);
};

/// Time of a product: the latest of what the bus takes for all steps, what the resident warps wait for theirs, and
/// the longest warp; and by how much that one exceeds the mean, since it may begin when others end.
double predicted_time(const EllWarpCounts& counts, const ThresholdWeights& weights);

/// The threshold with the least predicted time, of equals the largest; K1's, the longest row, unless another one
/// promises 2 % less.
Index choose_threshold(const std::vector<EllWarpCounts>& counts, const ThresholdWeights& weights);

/// How the kernel is launched.
struct EllWarpGrid {
  int block_threads;
  int dot_blocks;  ///< of a product that forms x.y, whose last block adds one number of each
};

/// For `warps` warps of work. Blocks are large, since the rows of one share a first-level cache and with it x: 512
/// threads where that gives each multiprocessor four of them, else 256, ... 32. A product that forms x.y takes no
/// more blocks than are resident.
EllWarpGrid choose_grid(Offset warps, const Machine& machine);

}  // namespace newel::detail
