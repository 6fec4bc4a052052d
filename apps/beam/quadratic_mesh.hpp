// SPDX-License-Identifier: Apache-2.0
/// QuadraticMesh: tetrahedra of ten nodes (P2), made from those of four.
#pragma once

#include <array>
#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::beam {

/// The four corners, then the midpoints of the edges 01, 02, 03, 12, 13, 23.
using QuadraticTet = std::array<Index, 10>;

/// Corners are numbered as in the mesh that it was made from, midpoints follow. Edges are straight.
struct QuadraticMesh {
  std::vector<fem::Point> nodes;
  std::vector<QuadraticTet> tets;

  Index node_count() const { return static_cast<Index>(nodes.size()); }
};

/// Throws InputError when 32 bits cannot number the nodes.
QuadraticMesh make_quadratic(const Context<Space::host>& ctx, const fem::TetMesh& mesh);

}  // namespace newel::beam
