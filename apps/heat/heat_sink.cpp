// SPDX-License-Identifier: Apache-2.0
// A plate with fins: a grid of cells, of which those between the fins are missing.
#include "heat_sink.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <newel/core/error.hpp>

#include "apps/fem/cell_mesh.hpp"

namespace newel::heat {

fem::TetMesh make_heat_sink(const HeatSink& sink) {
  const bool sound = sink.side > 0 && sink.plate > 0 && sink.fin_height > 0 && sink.fins >= 1 && sink.fins <= 100 &&
                     sink.cells_across_fin >= 1 && sink.cells_across_fin <= 50;
  if (!sound) throw InputError("a heat sink: expected positive lengths, 1 to 100 fins and 1 to 50 cells across one");
  const int strips = 2 * sink.fins - 1;
  const double spacing = sink.side / (strips * sink.cells_across_fin);
  const auto cells_along = [&](double length) {
    return std::max(1, static_cast<int>(std::lround(length / spacing)));
  };
  const int across = strips * sink.cells_across_fin, along = cells_along(sink.side);
  const int plate_cells = cells_along(sink.plate), fin_cells_up = cells_along(sink.fin_height);
  std::array<std::vector<double>, 3> lines;
  for (int x = 0; x <= across; ++x) lines[0].push_back(sink.side * x / across);
  for (int y = 0; y <= along; ++y) lines[1].push_back(sink.side * y / along);
  for (int z = 0; z <= plate_cells; ++z) lines[2].push_back(sink.plate * z / plate_cells);
  for (int z = 1; z <= fin_cells_up; ++z) lines[2].push_back(sink.plate + sink.fin_height * z / fin_cells_up);
  return fem::mesh_of_cells(lines, [&](const std::array<int, 3>& cell) {
    return cell[2] < plate_cells || (cell[0] / sink.cells_across_fin) % 2 == 0;
  });
}

}  // namespace newel::heat
