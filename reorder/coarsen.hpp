// SPDX-License-Identifier: Apache-2.0
/// Smaller graphs by heavy-edge matching. Internal.
#pragma once

#include <vector>

#include "reorder/graph.hpp"

namespace newel::detail {

/// One round: the coarse graph, and where each fine vertex went.
struct CoarseLevel {
  Graph graph;
  Array<Index, Space::host> coarse_of_fine;
};

/// Matches each vertex with at most one neighbour and contracts the pairs; weights of vertices and of parallel edges
/// are summed. Every vertex points along its heaviest edge to a free neighbour, pairs that point at each other match,
/// and this is repeated a few times (J. Hoepman, "Simple distributed weighted matchings", 2004). Ties are broken by a
/// hash of the edge. No pair weighs more than `most_weight`. O(edges), parallel, the same for any number of threads.
CoarseLevel coarsen_once(const Context<Space::host>& ctx, const Graph& fine, Index most_weight);

/// Memory for the edges of a level while they are added up. The first level needs most; later ones use it again,
/// because new memory costs as much as what is done in it: the system clears it first.
using EdgeRoom = Array<std::uint64_t, Space::host>;
CoarseLevel coarsen_once(const Context<Space::host>& ctx, const Graph& fine, Index most_weight, EdgeRoom& edges);

/// Up to `rounds` rounds, as long as they leave at least `fewest_vertices`; then more while there are over
/// `most_neighbours` in the lists. Ends early where a round shrinks the graph by less than a tenth. The first level
/// is the one below `graph`. No vertex weighs more than three times what an even spread over `fewest_vertices` gives.
std::vector<CoarseLevel> coarsen(const Context<Space::host>& ctx, const Graph& graph, int rounds,
                                 Index fewest_vertices, Offset most_neighbours);

}  // namespace newel::detail
