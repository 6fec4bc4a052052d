// SPDX-License-Identifier: Apache-2.0
// Greedy growth: no library, no random numbers.
#include <algorithm>

#include "reorder/breadth_first.hpp"
#include "reorder/partitioners.hpp"

namespace newel::detail {
namespace {

class Growth {
 public:
  explicit Growth(const Graph& graph)
      : graph_(graph),
        part_(static_cast<std::size_t>(graph.vertices), -1),
        known_(static_cast<std::size_t>(graph.vertices), 0),
        walks_(graph),
        left_(graph.rows()) {}

  std::vector<Index> run(Index parts) {
    for (Index p = 0; p < parts; ++p) {
      Offset share = left_ / (parts - p);
      while (share > 0 && left_ > 0) {
        const Offset taken = grow(p, next_seed(), share);
        share -= taken;
        left_ -= taken;
      }
    }
    return std::move(part_);
  }

 private:
  // The waiting vertex with the fewest neighbours that are free: a corner. Else an end of the next component, or what
  // was left of one.
  Index next_seed() {
    Index seed = -1, fewest = 0;
    for (const Index v : waiting_) {
      if (part_[v] >= 0) continue;
      Index free = 0;
      for (Offset k = graph_.begin[v]; k < graph_.begin[v + 1]; ++k) free += part_[graph_.neighbour[k]] < 0 ? 1 : 0;
      if (seed < 0 || free < fewest) {
        seed = v;
        fewest = free;
      }
    }
    if (seed >= 0) return seed;
    while (part_[cursor_] >= 0) ++cursor_;
    if (known_[cursor_] != 0) return cursor_;
    const Index end = walks_.far_end(cursor_, [&](Index v) { return part_[v] < 0; });
    for (const Index v : walks_.reached()) known_[v] = 1;
    return end;
  }

  // Takes vertices until `share` is reached or none is near; what was seen and not taken waits.
  Offset grow(Index p, Index seed, Offset share) {
    waiting_.assign(1, seed);
    Offset taken = 0;
    std::size_t at = 0;
    for (; at < waiting_.size() && taken < share; ++at) {
      const Index v = waiting_[at];
      part_[v] = p;
      taken += graph_.vertex_weight[v];
      for (Offset k = graph_.begin[v]; k < graph_.begin[v + 1]; ++k) {
        const Index u = graph_.neighbour[k];
        if (part_[u] != -1) continue;
        part_[u] = seen;
        waiting_.push_back(u);
      }
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    for (const Index v : waiting_) part_[v] = -1;
    return taken;
  }

  static constexpr Index seen = -2;
  const Graph& graph_;
  std::vector<Index> part_;
  std::vector<char> known_;  // the ends of its component have been searched for: once is enough
  BreadthFirst walks_;
  std::vector<Index> waiting_;
  Index cursor_ = 0;
  Offset left_;
};

}  // namespace

std::vector<Index> partition_by_growth(const Graph& graph, Index parts) { return Growth(graph).run(parts); }

}  // namespace newel::detail
