// SPDX-License-Identifier: Apache-2.0
/// Vertices without neighbours, such as rows that a boundary condition left with their diagonal alone. Internal.
#pragma once

#include <vector>

#include "reorder/graph.hpp"

namespace newel::detail {

/// The vertices of a graph that have neighbours, renumbered in their order.
struct ConnectedGraph {
  Graph graph;
  std::vector<Index> vertex;  ///< of the whole graph
};

Index count_isolated(const Context<Space::host>& ctx, const Graph& graph);

/// O(edges), parallel.
ConnectedGraph without_isolated(const Context<Space::host>& ctx, const Graph& whole);

/// Parts of all vertices, from those of the connected ones. Cut with the others, isolated vertices would make up
/// parts of their own, which have next to nothing to multiply; here they fill up what the connected ones leave
/// uneven, in runs of their order. O(vertices + parts log(parts)).
std::vector<Index> with_isolated(const Graph& whole, const ConnectedGraph& connected,
                                 const std::vector<Index>& part_of_connected, Index parts);

/// Parts of all vertices, where `cut(graph)` gives those of a graph; it sees the connected vertices alone.
template <class F>
std::vector<Index> cut_connected(const Context<Space::host>& ctx, const Graph& whole, Index parts, F&& cut) {
  if (count_isolated(ctx, whole) == 0) return cut(whole);
  const ConnectedGraph connected = without_isolated(ctx, whole);
  return with_isolated(whole, connected, cut(connected.graph), parts);
}

}  // namespace newel::detail
