// SPDX-License-Identifier: Apache-2.0
// Growth on a small graph, refined on each level of the way back.
#include <newel/core/parallel.hpp>
#include "reorder/coarsen.hpp"
#include "reorder/isolated.hpp"
#include "reorder/partitioners.hpp"
#include "reorder/refine.hpp"

namespace newel::detail {

std::vector<Index> grow_and_refine(const Context<Space::host>& ctx, const Graph& graph, Index parts,
                                   Index most_rows) {
  std::vector<Index> part = partition_by_growth(graph, parts);
  refine(ctx, graph, parts, most_rows, refinement_passes, part);
  return part;
}

std::vector<Index> spread(const Context<Space::host>& ctx, const std::vector<Index>& coarse,
                          const Array<Index, Space::host>& coarse_of_fine) {
  std::vector<Index> fine(static_cast<std::size_t>(coarse_of_fine.size()));
  parallel_for(ctx, coarse_of_fine.size(), [&](std::int64_t v) { fine[v] = coarse[coarse_of_fine[v]]; });
  return fine;
}

void spread_and_refine(const Context<Space::host>& ctx, const Graph& graph, const std::vector<CoarseLevel>& levels,
                       Index parts, Index most_rows, std::vector<Index>& part) {
  for (std::size_t level = levels.size(); level-- > 0;) {
    part = spread(ctx, part, levels[level].coarse_of_fine);
    refine(ctx, level == 0 ? graph : levels[level - 1].graph, parts, most_rows, refinement_passes, part);
  }
}

std::vector<Index> partition_by_levels(const Context<Space::host>& ctx, const Graph& whole, Index parts,
                                       Index most_rows) {
  return cut_connected(ctx, whole, parts, [&](const Graph& graph) {
    constexpr int rounds = 8;
    const auto most = most_rows - static_cast<Index>((whole.rows() - graph.rows()) / parts);
    const auto levels = coarsen(ctx, graph, rounds, vertices_per_part * parts, graph.neighbours());
    std::vector<Index> part = grow_and_refine(ctx, levels.empty() ? graph : levels.back().graph, parts, most);
    spread_and_refine(ctx, graph, levels, parts, most, part);
    return part;
  });
}

}  // namespace newel::detail
