// SPDX-License-Identifier: Apache-2.0
/// Walks that reach near vertices first. Internal.
#pragma once

#include <vector>

#include "reorder/graph.hpp"

namespace newel::detail {

/// Breadth-first walks over the vertices that a predicate allows. Owns marks for the whole graph, made once for many
/// walks; a walk costs what it reaches.
class BreadthFirst {
 public:
  explicit BreadthFirst(const Graph& graph) : graph_(graph), seen_(static_cast<std::size_t>(graph.vertices), 0) {}

  /// Appends all that can be reached from `start`, which is allowed.
  template <class Allowed>
  void walk(Index start, const Allowed& allowed, std::vector<Index>& reached) {
    const std::size_t first = reached.size();
    reached.push_back(start);
    seen_[start] = 1;
    for (std::size_t at = first; at < reached.size(); ++at) {
      const Index v = reached[at];
      for (Offset k = graph_.begin[v]; k < graph_.begin[v + 1]; ++k) {
        const Index u = graph_.neighbour[k];
        if (seen_[u] != 0 || !allowed(u)) continue;
        seen_[u] = 1;
        reached.push_back(u);
      }
    }
    for (std::size_t at = first; at < reached.size(); ++at) seen_[reached[at]] = 0;
  }

  /// An end of the component of `from`: the last vertex reached from the last vertex reached (after A. George, J.
  /// Liu, ACM TOMS 5, 1979). `reached()` then holds the component.
  template <class Allowed>
  Index far_end(Index from, const Allowed& allowed) {
    for (int sweep = 0; sweep < 2; ++sweep) {
      reached_.clear();
      walk(from, allowed, reached_);
      from = reached_.back();
    }
    return from;
  }
  const std::vector<Index>& reached() const { return reached_; }

 private:
  const Graph& graph_;
  std::vector<char> seen_;
  std::vector<Index> reached_;
};

}  // namespace newel::detail
