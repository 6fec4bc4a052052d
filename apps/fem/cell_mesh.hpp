// SPDX-License-Identifier: Apache-2.0
/// Meshes of bodies that consist of the cells of a grid: a plate with fins, a tuning fork.
#pragma once

#include <functional>

#include "apps/fem/mesh.hpp"

namespace newel::fem {

/// Which cells belong to the body: by their numbers along x, y and z.
using CellFilter = std::function<bool(const std::array<int, 3>& cell)>;

/// `lines`: the coordinates of the grid along x, y and z, ascending, at least two each. Every cell of the body is cut
/// into six tetrahedra (Kuhn's subdivision, which is conforming); nodes are numbered along x, then y, then z. Throws
/// InputError for lines that do not ascend and for a body without cells.
TetMesh mesh_of_cells(const std::array<std::vector<double>, 3>& lines, const CellFilter& in_body);

/// `cells` equal intervals from `from` to `to`, appended to `lines` without the first point if there is one already.
void append_lines(std::vector<double>& lines, double from, double to, int cells);

}  // namespace newel::fem
