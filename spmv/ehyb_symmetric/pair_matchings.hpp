// SPDX-License-Identifier: Apache-2.0
/// The pairs of one part in rounds. Internal.
#pragma once

#include <vector>

#include <newel/core/types.hpp>

namespace newel::detail {

/// Nodes of a part, and their blocks' places in each other's rows: which block of i's that of j is, and the reverse.
struct NodePair {
  Index i, j;
  Index upper, lower;
};

/// Pairs that may be added side by side, as they shall stand.
using PairRound = std::vector<NodePair>;

/// Matchings of the graph of `nodes` nodes that has the pairs for edges, at most `most_pairs` in each, one after the
/// other: the nodes with the most pairs left are served first, and with the partner that has the most left. Ends
/// before a matching that would be less than a quarter full.
///
/// With `banks`, a power of two, each matching is ordered so that `banks` pairs side by side touch as many banks of
/// shared memory as can be: their first nodes differ modulo `banks`, and so do their second ones, as far as there are
/// such pairs left. Without (1), pairs keep their order.
std::vector<PairRound> matchings_of(const std::vector<NodePair>& pairs, Index nodes, Index most_pairs, Index banks);

}  // namespace newel::detail
