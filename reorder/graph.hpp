// SPDX-License-Identifier: Apache-2.0
/// An undirected graph with weights, as partitioners read it. Internal.
#pragma once

#include <numeric>

#include <newel/core/array.hpp>

namespace newel::detail {

/// Every edge stands in the lists of both its ends, with one positive weight. No loops, no edge twice.
struct Graph {
  Index vertices = 0;
  Array<Offset, Space::host> begin;         ///< vertices + 1
  Array<Index, Space::host> neighbour;      ///< of vertex v at begin[v] .. begin[v + 1] - 1
  Array<Index, Space::host> edge_weight;    ///< entries of the matrix between the two ends
  Array<Index, Space::host> vertex_weight;  ///< rows of the matrix

  Offset neighbours() const { return neighbour.size(); }
  /// The sum of the vertices' weights.
  Offset rows() const { return std::accumulate(vertex_weight.begin(), vertex_weight.end(), Offset{0}); }
};

}  // namespace newel::detail
