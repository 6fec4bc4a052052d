// SPDX-License-Identifier: Apache-2.0
// Candidates in parallel against frozen parts, moves in sequence against the true ones: few vertices are candidates.
#include "reorder/refine.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "reorder/part_ties.hpp"

namespace newel::detail {

namespace {

bool has_outside_neighbour(const Graph& graph, const std::vector<Index>& part_of_vertex, Index v) {
  return std::any_of(graph.neighbour.data() + graph.begin[v], graph.neighbour.data() + graph.begin[v + 1],
                     [&](Index u) { return part_of_vertex[u] != part_of_vertex[v]; });
}

}  // namespace

void refine(const Context<Space::host>& ctx, const Graph& graph, Index parts, Index most_rows, int passes,
            std::vector<Index>& part_of_vertex) {
  std::vector<Index> rows = rows_of_parts(ctx, graph, part_of_vertex, parts);
  PerThread<PartTies> ties(ctx);
  // On a boundary, or next to what has moved: all others stay where they are.
  Array<bool, Space::host> near_boundary(ctx, graph.vertices), candidate(ctx, graph.vertices);
  for (int pass = 0; pass < passes; ++pass) {
    parallel_blocks(ctx, graph.vertices, 256, [&](Index v, int member) {
      PartTies& mine = ties.of(member, parts);
      if (pass == 0) near_boundary[v] = has_outside_neighbour(graph, part_of_vertex, v);
      candidate[v] = near_boundary[v] && mine.best_move(graph, part_of_vertex, rows, most_rows, v).worth_it();
    });
    Index moved = 0;
    const bool* end = candidate.end();
    for (const bool* at = std::find(candidate.begin(), candidate.end(), true); at != end;
         at = std::find(at + 1, end, true)) {
      const auto v = static_cast<Index>(at - candidate.begin());
      const VertexMove move = ties.of(0, parts).best_move(graph, part_of_vertex, rows, most_rows, v);
      if (!move.worth_it() || rows[part_of_vertex[v]] == graph.vertex_weight[v]) continue;
      rows[part_of_vertex[v]] -= graph.vertex_weight[v];
      rows[move.part] += graph.vertex_weight[v];
      part_of_vertex[v] = move.part;
      for (Offset k = graph.begin[v]; k < graph.begin[v + 1]; ++k) near_boundary[graph.neighbour[k]] = true;
      ++moved;
    }
    if (moved == 0) break;
  }
}

}  // namespace newel::detail
