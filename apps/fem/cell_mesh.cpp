// SPDX-License-Identifier: Apache-2.0
// A grid of cells of which some are there, as tetrahedra.
#include "apps/fem/cell_mesh.hpp"

#include <algorithm>

#include <newel/core/error.hpp>

namespace newel::fem {
namespace {

using Triple = std::array<int, 3>;

// The axes in the order in which a path from the low corner of a cell to the high one takes them: one tetrahedron
// each.
constexpr std::array<Triple, 6> paths = {{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
constexpr std::size_t even_paths = 3;  // the first ones; the others turn the other way

template <class F>
void for_each(const Triple& extent, F&& f) {
  for (int z = 0; z < extent[2]; ++z) {
    for (int y = 0; y < extent[1]; ++y) {
      for (int x = 0; x < extent[0]; ++x) f(Triple{x, y, z});
    }
  }
}

void check_lines(const std::array<std::vector<double>, 3>& lines) {
  for (const std::vector<double>& along : lines) {
    if (along.size() < 2 || std::adjacent_find(along.begin(), along.end(), std::greater_equal<>()) != along.end()) {
      throw InputError("a grid of cells: expected at least two lines along each axis, in ascending order");
    }
  }
}

}  // namespace

TetMesh mesh_of_cells(const std::array<std::vector<double>, 3>& lines, const CellFilter& in_body) {
  check_lines(lines);
  Triple points{}, cells{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    points[axis] = static_cast<int>(lines[axis].size());
    cells[axis] = points[axis] - 1;
  }
  const auto place = [&](const Triple& p) {
    return static_cast<std::size_t>(p[0]) +
           lines[0].size() * (static_cast<std::size_t>(p[1]) + lines[1].size() * static_cast<std::size_t>(p[2]));
  };
  std::vector<Index> node(lines[0].size() * lines[1].size() * lines[2].size(), -1);
  for_each(cells, [&](const Triple& c) {
    if (!in_body(c)) return;
    for_each({2, 2, 2}, [&](const Triple& d) { node[place({c[0] + d[0], c[1] + d[1], c[2] + d[2]})] = 0; });
  });
  TetMesh mesh;
  for_each(points, [&](const Triple& p) {
    Index& number = node[place(p)];
    if (number < 0) return;
    number = mesh.node_count();
    const auto at = [&](std::size_t axis) { return lines[axis][static_cast<std::size_t>(p[axis])]; };
    mesh.nodes.push_back({at(0), at(1), at(2)});
  });
  for_each(cells, [&](const Triple& c) {
    if (!in_body(c)) return;
    for (std::size_t path = 0; path < paths.size(); ++path) {
      Tet tet{};
      Triple at = c;
      for (std::size_t corner = 0; corner < 4; ++corner) {
        tet[corner] = node[place(at)];
        if (corner < 3) ++at[static_cast<std::size_t>(paths[path][corner])];
      }
      if (path >= even_paths) std::swap(tet[2], tet[3]);
      mesh.tets.push_back(tet);
    }
  });
  if (mesh.tets.empty()) throw InputError("a grid of cells: expected a body of at least one cell");
  return mesh;
}

void append_lines(std::vector<double>& lines, double from, double to, int cells) {
  for (int k = lines.empty() ? 0 : 1; k <= cells; ++k) {
    lines.push_back(k == cells ? to : from + (to - from) * k / cells);
  }
}

}  // namespace newel::fem
