// SPDX-License-Identifier: Apache-2.0
// Sides are sorted by their lower node by counting, those of a node by their upper one.
#include "apps/heart/anatomy/surface_neighbours.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <newel/core/parallel.hpp>

namespace newel::fem::detail {

Neighbours neighbours(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface) {
  struct Edge {
    Index high, face;
    int corner;
    bool operator<(const Edge& o) const { return std::tie(high, face) < std::tie(o.high, o.face); }
  };
  const auto ends_of = [&](Index f, int corner) {
    const Index a = surface.triangles[f][(corner + 1) % 3], b = surface.triangles[f][(corner + 2) % 3];
    return std::make_pair(std::min(a, b), std::max(a, b));
  };
  std::vector<Index> begin(mesh.nodes.size() + 1, 0);
  for (Index f = 0; f < surface.size(); ++f) {
    for (int c = 0; c < 3; ++c) ++begin[static_cast<std::size_t>(ends_of(f, c).first) + 1];
  }
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  std::vector<Edge> sides(3 * surface.triangles.size());
  for (Index f = 0; f < surface.size(); ++f) {
    for (int c = 0; c < 3; ++c) {
      const auto [low, high] = ends_of(f, c);
      sides[static_cast<std::size_t>(next[low]++)] = {high, f, c};
    }
  }
  Neighbours result(surface.triangles.size(), {-1, -1, -1});
  parallel_for(ctx, mesh.node_count(), [&](Index i) {
    const auto last = sides.begin() + begin[i + 1];
    std::sort(sides.begin() + begin[i], last);
    for (auto side = sides.begin() + begin[i]; side != last;) {
      auto end = side + 1;
      while (end != last && end->high == side->high) ++end;
      if (end == side + 2) {
        result[side[0].face][side[0].corner] = side[1].face;
        result[side[1].face][side[1].corner] = side[0].face;
      }
      side = end;
    }
  });
  return result;
}

}  // namespace newel::fem::detail
