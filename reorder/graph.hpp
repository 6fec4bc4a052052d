// SPDX-License-Identifier: Apache-2.0
/// An undirected graph with weights, as partitioners read it. Internal.
#pragma once

#include <purlin/core/array.hpp>

namespace purlin::detail {

/// Every edge stands in the lists of both its ends, with one positive weight. No loops, no edge twice.
struct Graph {
  Index vertices = 0;
  Array<Offset, Space::host> begin;         ///< vertices + 1
  Array<Index, Space::host> neighbour;      ///< of vertex v at begin[v] .. begin[v + 1] - 1
  Array<Index, Space::host> edge_weight;    ///< entries of the matrix between the two ends
  Array<Index, Space::host> vertex_weight;  ///< rows of the matrix

  Offset neighbours() const { return neighbour.size(); }
};

/// Turns counts into begins: counts[i] of n + 1 places becomes the sum of those before it.
inline void exclusive_sum(Array<Offset, Space::host>& counts) {
  Offset sum = 0;
  for (std::int64_t i = 0; i < counts.size(); ++i) {
    const Offset count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}

}  // namespace purlin::detail
