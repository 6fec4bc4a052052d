// SPDX-License-Identifier: Apache-2.0
/// Which blocks of a matrix in parts lie opposite each other across its diagonal, and in which rounds a part may add
/// such pairs so that no two of a round touch the same rows of y. Internal.
#pragma once

#include <optional>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// A pair is a block (i, j), i < j, of two nodes of a part, and the block (j, i): the first adds to the rows of i,
/// the second to those of j. A round is a set of pairs of different nodes (a matching of the part's graph), so that
/// they may be added side by side.
///
/// The rounds of part p are part_round[p] .. part_round[p + 1] - 1; round r has the places round_first[r] ..
/// round_first[r + 1] - 1, each of `lanes` pairs. Pair k lanes + lane has its nodes, numbered within the part, in
/// `row` and `col`; `no_pair` in `row` stands for none. Row d of the block (i, j) begins at position `upper_run[(k
/// block + d) lanes + lane]` of the matrix, or -1; likewise `lower_run` for (j, i).
template <Space S>
struct PairRounds {
  static constexpr std::uint32_t no_pair = 0xffffffff;
  static constexpr Index most_nodes = 65535;  ///< of a part

  Array<Index, S> part_round;     ///< parts + 1
  Array<Index, S> round_first;    ///< rounds + 1
  Array<std::uint32_t, S> nodes;  ///< lanes x round_first.back()
  Array<Offset, S> upper_run;     ///< block x lanes x round_first.back()
  Array<Offset, S> lower_run;
  Offset pairs = 0;
  Index most_places = 0;  ///< of a round
};

/// What is stored by pairs, and the entries that are left. Those stand in rows of their own order: node n of a part
/// is node `node[n]`, and the nodes with the most entries left are first.
template <Space S>
struct SplitPattern {
  PairRounds<S> rounds;
  std::vector<Index> node;    ///< of the matrix, for each node of what is left; in the same part
  Array<Offset, S> row_ptr;   ///< rows + 1, of what is left
  Array<Index, S> col;        ///< of the matrix; ascending in a row
  Array<Offset, S> position;  ///< of each of those entries in the matrix
};

/// Numbers rounds and their places, for the pairs of each round of each part; the rest is not made.
PairRounds<Space::host> number_rounds(const Context<Space::host>& ctx,
                                      const std::vector<std::vector<Index>>& pairs_of_rounds, int lanes);

/// The first node of each part, from its first row.
std::vector<Index> bounds_of_nodes(std::vector<Index> part_begin, int block);

/// The nodes in the order of SplitPattern, by the blocks that each has left. `node_begin` has parts + 1 nodes.
std::vector<Index> fullest_first(const Context<Space::host>& ctx, Span<const Index, Space::host> blocks,
                                 const std::vector<Index>& node_begin);

struct PairShape {
  int lanes = 1;         ///< pairs of a place
  Index most_pairs = 1;  ///< of a round
  Index banks = 1;       ///< nodes whose rows of x lie in different banks of fast memory; 1: pairs keep their order
};

/// Pairs of the nodes of `block` rows of each part of `part_begin` (parts + 1 rows, multiples of `block`), in
/// rounds (see matchings_of). Pairs that would make a round less than a quarter full, and so wait for each other, are
/// left: they are those of a few nodes with far more neighbours than the others. The pattern is square and canonical,
/// of full aligned blocks. Parallel over parts, the same for any number of threads.
SplitPattern<Space::host> split_pairs(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                      const std::vector<Index>& part_begin, int block, const PairShape& shape);

/// The same kind of rounds, though not the same ones, found on the device: pairs of nodes that choose each other, by
/// how many pairs both have left. The same on every run. Nothing where the host has to do it: parts of more nodes
/// than a multiprocessor has room for, or nodes with more than 65535 neighbours. Waits for the stream.
std::optional<SplitPattern<Space::device>> split_pairs(const Context<Space::device>& ctx,
                                                       const Pattern<Space::device>& a,
                                                       const std::vector<Index>& part_begin, int block,
                                                       const PairShape& shape);

/// Replaces each of `sources` that is not negative, an entry of what is left, by its position in the matrix.
void point_into(const Context<Space::host>& ctx, Span<const Offset, Space::host> position,
                Array<Offset, Space::host>& sources);
void point_into(const Context<Space::device>& ctx, Span<const Offset, Space::device> position,
                Array<Offset, Space::device>& sources);

}  // namespace newel::detail
