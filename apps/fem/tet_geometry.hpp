// SPDX-License-Identifier: Apache-2.0
/// A tetrahedron's volume, middle, and the gradients of its barycentric coordinates: what P1 elements are made of.
#pragma once

#include "apps/fem/mesh.hpp"

namespace newel::fem {

struct TetGeometry {
  double volume;
  std::array<Point, 4> gradient;  ///< of the function that is 1 in a corner and 0 in the others; constant
};

/// For a tetrahedron whose volume is not zero.
TetGeometry tet_geometry(const TetMesh& mesh, Index tet);

/// The middle of a tetrahedron.
Point tet_centroid(const TetMesh& mesh, Index tet);

}  // namespace newel::fem
