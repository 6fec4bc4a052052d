// SPDX-License-Identifier: Apache-2.0
// Oversized parts first, since what they give may fill empty ones.
#include "reorder/balance.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "reorder/breadth_first.hpp"
#include "reorder/grouping.hpp"
#include "reorder/part_ties.hpp"

namespace newel::detail {
namespace {

// Layers of its surface that an oversized part gives away before it is cut.
constexpr int most_layers = 16;

class Balance {
 public:
  Balance(const Context<Space::host>& ctx, const Graph& graph, Index parts, Index most_rows,
          std::vector<Index>& part_of_vertex)
      : graph_(graph),
        most_rows_(most_rows),
        part_of_vertex_(part_of_vertex),
        rows_(rows_of_parts(ctx, graph, part_of_vertex, parts)),
        ties_(parts),
        walks_(graph),
        in_set_(static_cast<std::size_t>(graph.vertices), 0) {}

  Index parts() const { return static_cast<Index>(rows_.size()); }

  void shrink(Index part, std::vector<Index> members) {
    give_away_isolated(part, members);
    for (int layer = 0; layer < most_layers && rows_[part] > most_rows_; ++layer) {
      if (!give_away_surface(part, members)) break;
    }
    if (rows_[part] > most_rows_) cut(part, members);
  }

  void fill_empty(const Grouping& members) {
    std::set<std::pair<Index, Index>> by_rows;  // of parts with at least two vertices
    std::vector<std::vector<Index>> vertices(rows_.size());
    std::vector<Index> empty;
    for (Index p = 0; p < parts(); ++p) {
      vertices[p].assign(members.items.begin() + members.begin[p], members.items.begin() + members.begin[p + 1]);
      if (vertices[p].empty()) empty.push_back(p);
      if (vertices[p].size() > 1) by_rows.insert({rows_[p], p});
    }
    for (const Index p : empty) {
      const Index donor = std::prev(by_rows.end())->second;
      by_rows.erase(std::prev(by_rows.end()));
      const std::vector<Index> order = near_first(vertices[donor]);
      const std::size_t half = order.size() / 2;
      vertices[donor].assign(order.begin(), order.end() - half);
      vertices[p].assign(order.end() - half, order.end());
      for (const Index v : vertices[p]) move(v, p);
      for (const Index q : {donor, p}) {
        if (vertices[q].size() > 1) by_rows.insert({rows_[q], q});
      }
    }
  }

 private:
  void move(Index v, Index part) {
    rows_[part_of_vertex_[v]] -= graph_.vertex_weight[v];
    rows_[part] += graph_.vertex_weight[v];
    part_of_vertex_[v] = part;
  }

  bool has_room(Index part, Index rows) const { return Offset{rows_[part]} + rows <= most_rows_; }

  // The set in the order of walks from one end of each of its components.
  std::vector<Index> near_first(const std::vector<Index>& set) {
    std::vector<Index> order;
    order.reserve(set.size());
    const auto allowed = [&](Index v) { return in_set_[v] != 0; };
    for (const Index v : set) in_set_[v] = 1;
    for (const Index v : set) {
      if (!allowed(v)) continue;
      const std::size_t before = order.size();
      walks_.walk(walks_.far_end(v, allowed), allowed, order);
      for (std::size_t k = before; k < order.size(); ++k) in_set_[order[k]] = 0;
    }
    return order;
  }

  void give_away_isolated(Index part, const std::vector<Index>& members) {
    for (const Index v : members) {
      if (rows_[part] <= most_rows_) return;
      if (graph_.begin[v] != graph_.begin[v + 1]) continue;
      // Parts only fill up here, so the search continues where it stopped.
      while (roomy_ < parts() && (roomy_ == part || !has_room(roomy_, graph_.vertex_weight[v]))) ++roomy_;
      if (roomy_ == parts()) return;
      move(v, roomy_);
    }
  }

  bool give_away_surface(Index part, const std::vector<Index>& members) {
    std::vector<std::pair<Offset, Index>> surface;  // loss, vertex
    for (const Index v : members) {
      if (part_of_vertex_[v] != part) continue;
      const VertexMove best = ties_.best_move(graph_, part_of_vertex_, rows_, most_rows_, v);
      if (best.part >= 0) surface.emplace_back(-best.gain, v);
    }
    std::sort(surface.begin(), surface.end());
    bool moved = false;
    for (const auto& [loss, v] : surface) {
      if (rows_[part] <= most_rows_) break;
      const VertexMove best = ties_.best_move(graph_, part_of_vertex_, rows_, most_rows_, v);
      if (best.part < 0) continue;
      move(v, best.part);
      moved = true;
    }
    return moved;
  }

  // Keeps as many vertices as fit, in the order of a walk through the part; the rest leaves in pieces.
  void cut(Index part, const std::vector<Index>& members) {
    std::vector<Index> own;
    for (const Index v : members) {
      if (part_of_vertex_[v] == part) own.push_back(v);
    }
    const std::vector<Index> order = near_first(own);
    std::size_t at = 0;
    for (Offset kept = 0; at < order.size() && kept + graph_.vertex_weight[order[at]] <= most_rows_; ++at) {
      kept += graph_.vertex_weight[order[at]];
    }
    while (at < order.size()) {
      std::size_t end = at;
      Index piece = 0;
      while (end < order.size() && Offset{piece} + graph_.vertex_weight[order[end]] <= most_rows_) {
        piece += graph_.vertex_weight[order[end++]];
      }
      const auto emptiest = static_cast<Index>(std::min_element(rows_.begin(), rows_.end()) - rows_.begin());
      const Index to = has_room(emptiest, piece) ? emptiest : parts();
      if (to == parts()) {
        rows_.push_back(0);
        ties_ = PartTies(parts());
      }
      for (; at < end; ++at) move(order[at], to);
    }
  }

  const Graph& graph_;
  Index most_rows_;
  std::vector<Index>& part_of_vertex_;
  std::vector<Index> rows_;
  PartTies ties_;
  BreadthFirst walks_;
  std::vector<char> in_set_;
  Index roomy_ = 0;
};

}  // namespace

bool keeps_limits(const std::vector<Index>& rows_of_parts, Index most_rows) {
  return std::all_of(rows_of_parts.begin(), rows_of_parts.end(), [&](Index r) { return r > 0 && r <= most_rows; });
}

Index enforce_limits(const Context<Space::host>& ctx, const Graph& graph, Index parts, Index most_rows,
                     std::vector<Index>& part_of_vertex) {
  const std::vector<Index> rows = rows_of_parts(ctx, graph, part_of_vertex, parts);
  if (keeps_limits(rows, most_rows)) return parts;
  const auto oversized = [&](Index r) { return r > most_rows; };
  const auto members = [&](Index count) {
    return group(ctx, {part_of_vertex.data(), static_cast<std::int64_t>(part_of_vertex.size())}, count);
  };
  const bool any_empty = std::count(rows.begin(), rows.end(), 0) > 0;
  Balance balance(ctx, graph, parts, most_rows, part_of_vertex);
  const Grouping before = members(parts);
  for (Index p = 0; p < parts; ++p) {
    if (!oversized(rows[p])) continue;
    balance.shrink(p, {before.items.begin() + before.begin[p], before.items.begin() + before.begin[p + 1]});
  }
  if (any_empty) balance.fill_empty(members(balance.parts()));
  return balance.parts();
}

}  // namespace newel::detail
