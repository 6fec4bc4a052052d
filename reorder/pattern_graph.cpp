// SPDX-License-Identifier: Apache-2.0
// First the directed graph of the classes of rows, which is small; then both directions of its edges together.
#include "reorder/pattern_graph.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <newel/core/parallel.hpp>
#include "core/threads/row_scratch.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

// How a thread takes rows of very different lengths.
constexpr int chunk_rows = 256;

// Calls f(class, entries) for the classes that the row reaches, ascending, without its own.
template <class F>
void for_neighbours(const Pattern<Space::host>& a, const RowClasses& classes, Index c, std::vector<Index>& scratch,
                    F&& f) {
  const Index row = classes.first_row[c];
  scratch.clear();
  bool ascending = true;
  for (Offset k = a.row_begin(row); k < a.row_begin(row + 1); ++k) {
    const Index other = classes.class_of_row[a.col[k]];
    if (other == c) continue;
    ascending = ascending && (scratch.empty() || scratch.back() <= other);
    scratch.push_back(other);
  }
  if (!ascending) std::sort(scratch.begin(), scratch.end());
  for (std::size_t from = 0, to = 0; from < scratch.size(); from = to) {
    while (to < scratch.size() && scratch[to] == scratch[from]) ++to;
    f(scratch[from], static_cast<Index>(to - from));
  }
}

// One direction: an edge from class u to class v for the entries in rows of u and columns of v.
Graph directed_graph(const Context<Space::host>& ctx, const Pattern<Space::host>& a, RowClasses& classes) {
  Graph g;
  g.vertices = classes.count;
  g.begin = Array<Offset, Space::host>(ctx, Offset{g.vertices} + 1);
  g.begin[g.vertices] = 0;
  RowScratch<Index> scratch(ctx, a);
  parallel_blocks(ctx, g.vertices, chunk_rows, [&](Index c, int member) {
    Offset count = 0;
    for_neighbours(a, classes, c, scratch.of(member), [&](Index, Index) { ++count; });
    g.begin[c] = count;
  });
  exclusive_sum(ctx, g.begin);
  g.neighbour = Array<Index, Space::host>(ctx, g.begin[g.vertices]);
  g.edge_weight = Array<Index, Space::host>(ctx, g.begin[g.vertices]);
  parallel_blocks(ctx, g.vertices, chunk_rows, [&](Index c, int member) {
    Offset k = g.begin[c];
    for_neighbours(a, classes, c, scratch.of(member), [&](Index other, Index entries) {
      g.neighbour[k] = other;
      g.edge_weight[k++] = entries * classes.rows[c];
    });
  });
  g.vertex_weight = std::move(classes.rows);
  return g;
}

// Adds to every edge the weight of its opposite. False, with nothing changed, where an opposite is missing.
bool add_opposites(const Context<Space::host>& ctx, Graph& g) {
  Array<Index, Space::host> sums(ctx, g.neighbours());
  // An edge u -> v with v < u looks for v -> u; where both kinds are as many, all have been met.
  std::atomic<bool> missing{false};
  const auto surplus_above = [&](Index u) {  // edges to larger numbers less edges to smaller ones
    Offset surplus = 0;
    for (Offset k = g.begin[u]; k < g.begin[u + 1] && !missing.load(std::memory_order_relaxed); ++k) {
      const Index v = g.neighbour[k];
      if (v > u) {
        ++surplus;
        continue;
      }
      --surplus;
      const Index* end = g.neighbour.begin() + g.begin[v + 1];
      const Index* at = std::lower_bound<const Index*>(g.neighbour.begin() + g.begin[v], end, u);
      if (at == end || *at != u) {
        missing = true;
        continue;
      }
      const Offset opposite = at - g.neighbour.begin();
      sums[k] = sums[opposite] = g.edge_weight[k] + g.edge_weight[opposite];
    }
    return surplus;
  };
  const auto surplus = parallel_count<Offset>(ctx, g.vertices, surplus_above);
  if (missing || surplus != 0) return false;
  g.edge_weight = std::move(sums);
  return true;
}

struct WeightedEnd {
  Index vertex, weight;
};

// For each vertex the edges that end in it, by their starts.
struct Incoming {
  Array<Offset, Space::host> begin;
  Array<WeightedEnd, Space::host> from;
};

Incoming transpose(const Context<Space::host>& ctx, const Graph& g) {
  Incoming t;
  t.begin = Array<Offset, Space::host>(ctx, Offset{g.vertices} + 1);
  std::fill(t.begin.begin(), t.begin.end(), 0);
  parallel_for(ctx, g.neighbours(), [&](Offset k) { atomic_add(t.begin[g.neighbour[k]], Offset{1}); });
  exclusive_sum(ctx, t.begin);
  t.from = Array<WeightedEnd, Space::host>(ctx, g.neighbours());
  Array<Offset, Space::host> next = make_array(ctx, t.begin.cspan());
  parallel_blocks(ctx, g.vertices, chunk_rows, [&](Index u) {
    for (Offset k = g.begin[u]; k < g.begin[u + 1]; ++k) {
      const Offset at = atomic_add(next[g.neighbour[k]], Offset{1});
      t.from[at] = {u, g.edge_weight[k]};
    }
  });
  // Threads leave the starts in any order.
  parallel_blocks(ctx, g.vertices, chunk_rows, [&](Index v) {
    std::sort(t.from.data() + t.begin[v], t.from.data() + t.begin[v + 1],
              [](const WeightedEnd& x, const WeightedEnd& y) { return x.vertex < y.vertex; });
  });
  return t;
}

// Calls f(vertex, weight) for the union of two ascending lists, weights of common vertices summed.
template <class F>
void for_union(const Graph& g, const Incoming& t, Index v, F&& f) {
  Offset k = g.begin[v], l = t.begin[v];
  while (k < g.begin[v + 1] || l < t.begin[v + 1]) {
    const bool has_out = k < g.begin[v + 1], has_in = l < t.begin[v + 1];
    const bool out = has_out && (!has_in || g.neighbour[k] <= t.from[l].vertex);
    const bool in = has_in && (!has_out || t.from[l].vertex <= g.neighbour[k]);
    const Index vertex = out ? g.neighbour[k] : t.from[l].vertex;
    f(vertex, (out ? g.edge_weight[k] : 0) + (in ? t.from[l].weight : 0));
    k += out ? 1 : 0;
    l += in ? 1 : 0;
  }
}

Graph union_with_opposites(const Context<Space::host>& ctx, Graph&& g) {
  const Incoming t = transpose(ctx, g);
  Graph result;
  result.vertices = g.vertices;
  result.begin = Array<Offset, Space::host>(ctx, Offset{g.vertices} + 1);
  result.begin[g.vertices] = 0;
  parallel_blocks(ctx, g.vertices, chunk_rows, [&](Index v) {
    Offset count = 0;
    for_union(g, t, v, [&](Index, Index) { ++count; });
    result.begin[v] = count;
  });
  exclusive_sum(ctx, result.begin);
  result.neighbour = Array<Index, Space::host>(ctx, result.begin[g.vertices]);
  result.edge_weight = Array<Index, Space::host>(ctx, result.begin[g.vertices]);
  parallel_blocks(ctx, g.vertices, chunk_rows, [&](Index v) {
    Offset at = result.begin[v];
    for_union(g, t, v, [&](Index vertex, Index weight) {
      result.neighbour[at] = vertex;
      result.edge_weight[at++] = weight;
    });
  });
  result.vertex_weight = std::move(g.vertex_weight);
  return result;
}

}  // namespace

PatternGraph make_pattern_graph(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                Index most_rows_per_vertex, RowHash hash) {
  RowClasses classes = find_row_classes(ctx, a, most_rows_per_vertex, hash);
  PatternGraph result;
  result.graph = directed_graph(ctx, a, classes);
  if (!add_opposites(ctx, result.graph)) result.graph = union_with_opposites(ctx, std::move(result.graph));
  result.vertex_of_row = std::move(classes.class_of_row);
  return result;
}

}  // namespace newel::detail
