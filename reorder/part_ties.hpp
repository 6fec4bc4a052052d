// SPDX-License-Identifier: Apache-2.0
/// How strongly a vertex is tied to each part around it, and which part it had better be in. Internal.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include "reorder/graph.hpp"

namespace newel::detail {

struct VertexMove {
  Index part = -1;     ///< -1: no other part around the vertex has room
  Offset gain = 0;     ///< by how much the cut shrinks
  bool evens = false;  ///< the sizes of the two parts come closer

  bool worth_it() const { return part >= 0 && (gain > 0 || (gain == 0 && evens)); }
};

inline std::vector<Index> rows_of_parts(const Context<Space::host>& ctx, const Graph& graph,
                                        const std::vector<Index>& part_of_vertex, Index parts) {
  // Sums of ranges of vertices, as many as outweigh the sums themselves.
  const Index ranges = std::clamp<Index>(graph.vertices / std::max<Index>(4 * parts, 1), 1, ctx.threads());
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(ranges),
                                       std::vector<Index>(static_cast<std::size_t>(parts), 0));
  parallel_tasks(ctx, ranges, [&](Index r) {
    const auto bound = [&](Index range) { return static_cast<Index>(Offset{graph.vertices} * range / ranges); };
    for (Index v = bound(r); v < bound(r + 1); ++v) rows[r][part_of_vertex[v]] += graph.vertex_weight[v];
  });
  for (Index r = 1; r < ranges; ++r) {
    for (Index p = 0; p < parts; ++p) rows[0][p] += rows[r][p];
  }
  return std::move(rows[0]);
}

/// Room to sum up the ties of one vertex. One per thread.
class PartTies {
 public:
  explicit PartTies(Index parts) : weight_(static_cast<std::size_t>(parts), 0) { around_.reserve(weight_.size()); }

  /// The part, other than its own and with room for it, that `v` is tied to most; among equals the one with the
  /// fewest rows, then the smallest number.
  VertexMove best_move(const Graph& graph, const std::vector<Index>& part_of_vertex, const std::vector<Index>& rows,
                 Index most_rows, Index v) {
    const Index own = part_of_vertex[v];
    const Index weight = graph.vertex_weight[v];
    around_.clear();
    for (Offset k = graph.begin[v]; k < graph.begin[v + 1]; ++k) {
      const Index part = part_of_vertex[graph.neighbour[k]];
      if (weight_[part] == 0 && part != own) around_.push_back(part);
      weight_[part] += graph.edge_weight[k];
    }
    VertexMove move;
    for (const Index part : around_) {
      if (Offset{rows[part]} + weight <= most_rows && (move.part < 0 || better(rows, part, move.part))) {
        move.part = part;
      }
    }
    if (move.part >= 0) {
      move.gain = weight_[move.part] - weight_[own];
      move.evens = rows[move.part] + weight < rows[own];
    }
    for (const Index part : around_) weight_[part] = 0;
    weight_[own] = 0;
    return move;
  }

 private:
  bool better(const std::vector<Index>& rows, Index part, Index than) const {
    if (weight_[part] != weight_[than]) return weight_[part] > weight_[than];
    return rows[part] != rows[than] ? rows[part] < rows[than] : part < than;
  }

  std::vector<Offset> weight_;
  std::vector<Index> around_;
};

}  // namespace newel::detail
