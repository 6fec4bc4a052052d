// SPDX-License-Identifier: Apache-2.0
// Parts are filled like connected vessels.
#include "reorder/isolated.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>

namespace newel::detail {
namespace {

bool isolated(const Graph& graph, Index v) { return graph.begin[v] == graph.begin[v + 1]; }

// The least level to which parts of so many rows can be filled with `extra` rows.
Offset level_of(std::vector<Offset> rows, Offset extra) {
  std::sort(rows.begin(), rows.end());
  Offset filled = extra;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    filled += rows[k];
    const auto parts = static_cast<Offset>(k) + 1;
    const Offset level = (filled + parts - 1) / parts;
    if (k + 1 == rows.size() || level <= rows[k + 1]) return level;
  }
  return 0;
}

}  // namespace

Index count_isolated(const Context<Space::host>& ctx, const Graph& graph) {
  return parallel_count<Index>(ctx, graph.vertices, [&](Index v) { return isolated(graph, v); });
}

ConnectedGraph without_isolated(const Context<Space::host>& ctx, const Graph& whole) {
  ConnectedGraph result;
  std::vector<Index> number(static_cast<std::size_t>(whole.vertices), -1);
  for (Index v = 0; v < whole.vertices; ++v) {
    if (isolated(whole, v)) continue;
    number[v] = static_cast<Index>(result.vertex.size());
    result.vertex.push_back(v);
  }
  Graph& g = result.graph;
  g.vertices = static_cast<Index>(result.vertex.size());
  g.begin = Array<Offset, Space::host>(ctx, Offset{g.vertices} + 1);
  g.vertex_weight = Array<Index, Space::host>(ctx, g.vertices);
  for (Index v = 0; v < g.vertices; ++v) {  // edges stay where they are: isolated vertices have none
    g.begin[v] = whole.begin[result.vertex[v]];
    g.vertex_weight[v] = whole.vertex_weight[result.vertex[v]];
  }
  g.begin[g.vertices] = whole.neighbours();
  g.edge_weight = make_array(ctx, whole.edge_weight.cspan());
  g.neighbour = Array<Index, Space::host>(ctx, whole.neighbours());
  parallel_for(ctx, whole.neighbours(), [&](Offset k) { g.neighbour[k] = number[whole.neighbour[k]]; });
  return result;
}

std::vector<Index> with_isolated(const Graph& whole, const ConnectedGraph& connected,
                                 const std::vector<Index>& part_of_connected, Index parts) {
  std::vector<Index> part(static_cast<std::size_t>(whole.vertices), -1);
  std::vector<Offset> rows(static_cast<std::size_t>(parts), 0);
  for (std::size_t v = 0; v < connected.vertex.size(); ++v) {
    part[connected.vertex[v]] = part_of_connected[v];
    rows[part_of_connected[v]] += connected.graph.vertex_weight[v];
  }
  const Offset left = whole.rows() - connected.graph.rows();
  const Offset level = level_of(rows, left);
  Offset spare = -left;  // rows that the level has room for beyond those: the last parts lack one each
  for (const Offset filled : rows) spare += std::max<Offset>(0, level - filled);
  std::vector<Offset> bound(rows.size(), level);
  for (std::size_t p = rows.size(); p-- > 0 && spare > 0;) {
    if (rows[p] >= level) continue;
    --bound[p];
    --spare;
  }
  Index p = 0;
  for (Index v = 0; v < whole.vertices; ++v) {
    if (part[v] >= 0) continue;
    while (p + 1 < parts && rows[p] >= bound[p]) ++p;
    part[v] = p;
    rows[p] += whole.vertex_weight[v];
  }
  return part;
}

}  // namespace newel::detail
