// SPDX-License-Identifier: Apache-2.0
// A plate with fins: a grid of cells of which some are there.
#include "heat_sink.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <newel/core/error.hpp>

namespace newel::heat {
namespace {

using Triple = std::array<int, 3>;

// The axes in the order in which a path from the low corner of a cell to the high one takes them: one tetrahedron
// each.
constexpr std::array<Triple, 6> paths = {{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
constexpr std::size_t even_paths = 3;  // the first ones; the others turn the other way

struct Grid {
  Triple cells;
  int fin_cells;    // across a fin and across a gap
  int plate_cells;  // along z

  bool filled(const Triple& c) const { return c[2] < plate_cells || (c[0] / fin_cells) % 2 == 0; }
  std::size_t point(const Triple& p) const {
    return static_cast<std::size_t>(p[0]) +
           static_cast<std::size_t>(cells[0] + 1) *
               (static_cast<std::size_t>(p[1]) +
                static_cast<std::size_t>(cells[1] + 1) * static_cast<std::size_t>(p[2]));
  }
};

template <class F>
void for_each(const Triple& extent, F&& f) {
  for (int z = 0; z < extent[2]; ++z) {
    for (int y = 0; y < extent[1]; ++y) {
      for (int x = 0; x < extent[0]; ++x) f(Triple{x, y, z});
    }
  }
}

}  // namespace

fem::TetMesh make_heat_sink(const HeatSink& sink) {
  const bool sound = sink.side > 0 && sink.plate > 0 && sink.fin_height > 0 && sink.fins >= 1 && sink.fins <= 100 &&
                     sink.cells_across_fin >= 1 && sink.cells_across_fin <= 50;
  if (!sound) throw InputError("a heat sink: expected positive lengths, 1 to 100 fins and 1 to 50 cells across one");
  const int strips = 2 * sink.fins - 1;
  const double spacing = sink.side / (strips * sink.cells_across_fin);
  const auto cells_along = [&](double length) {
    return std::max(1, static_cast<int>(std::lround(length / spacing)));
  };
  Grid grid{
      {strips * sink.cells_across_fin, cells_along(sink.side), 0}, sink.cells_across_fin, cells_along(sink.plate)};
  const int fin_cells_up = cells_along(sink.fin_height);
  grid.cells[2] = grid.plate_cells + fin_cells_up;
  const auto height = [&](int z) {
    return z <= grid.plate_cells ? sink.plate * z / grid.plate_cells
                                 : sink.plate + sink.fin_height * (z - grid.plate_cells) / fin_cells_up;
  };

  const Triple points = {grid.cells[0] + 1, grid.cells[1] + 1, grid.cells[2] + 1};
  std::vector<Index> node(grid.point({grid.cells[0], grid.cells[1], grid.cells[2]}) + 1, -1);
  for_each(grid.cells, [&](const Triple& c) {
    if (!grid.filled(c)) return;
    for_each({2, 2, 2}, [&](const Triple& d) { node[grid.point({c[0] + d[0], c[1] + d[1], c[2] + d[2]})] = 0; });
  });
  fem::TetMesh mesh;
  for_each(points, [&](const Triple& p) {
    Index& number = node[grid.point(p)];
    if (number < 0) return;
    number = mesh.node_count();
    mesh.nodes.push_back({sink.side * p[0] / grid.cells[0], sink.side * p[1] / grid.cells[1], height(p[2])});
  });
  for_each(grid.cells, [&](const Triple& c) {
    if (!grid.filled(c)) return;
    for (std::size_t path = 0; path < paths.size(); ++path) {
      fem::Tet tet{};
      Triple at = c;
      for (std::size_t corner = 0; corner < 4; ++corner) {
        tet[corner] = node[grid.point(at)];
        if (corner < 3) ++at[static_cast<std::size_t>(paths[path][corner])];
      }
      if (path >= even_paths) std::swap(tet[2], tet[3]);
      mesh.tets.push_back(tet);
    }
  });
  return mesh;
}

}  // namespace newel::heat
