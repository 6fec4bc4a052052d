// SPDX-License-Identifier: Apache-2.0
/// How a rank's rows are cut into EHYB's parts, and what they read of other ranks. Internal; only in builds with
/// CUDA.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <newel/core/communicator.hpp>
#include <newel/spmv/format.hpp>
#include "distributed/rows/rows_on_device.hpp"

namespace newel::detail {

/// Rows of a node, of all ranks: their greatest common divisor. All ranks call it together.
/// `reads_others`: of each row, whether it reads other ranks.
int node_rows(const Context<Space::device>& ctx, const ColumnsOfRank& a, const OwnPattern& own,
              const std::vector<unsigned char>& reads_others);

/// The order of the rows and the first row of each part, parts that read other ranks last.
struct RankOrder {
  std::vector<Index> old_of_new;
  std::vector<Index> part_begin = {0};
  Index inner_parts = 0;  ///< that read no other rank
};
RankOrder order_of_parts(const Context<Space::device>& ctx, const OwnPattern& own,
                         const std::vector<unsigned char>& reads_others, const FormatRequest& request);

/// Nodes of other ranks that this rank reads, and its own that others read.
struct OtherNodes {
  std::vector<std::int64_t> node;      ///< by the caller's numbers, ascending
  std::vector<Index> place;            ///< of each: its number in the order of all ranks
  std::vector<unsigned char> readers;  ///< of each own node in that order: bit r is set if rank r < 8 reads it
};
/// `nodes`: of other ranks that this one reads, by the caller's numbers, ascending. All ranks call it together. `ctx`
/// has ranks.
OtherNodes find_others(const Context<Space::host>& ctx, const ColumnsOfRank& a, std::vector<std::int64_t> nodes,
                       const std::vector<Index>& new_of_old, int block);

/// What the products of a rank in EHYB are made by, in any precision.
struct RankPlan {
  int block = 1;  ///< rows of a node
  RankOrder order;
  std::vector<Index> new_of_old;  ///< of `order`
  OtherNodes others;
};
/// The rows of `others`, by the caller's numbers.
std::vector<std::int64_t> ghost_rows(const RankPlan& plan);

}  // namespace newel::detail
