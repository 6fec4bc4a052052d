// SPDX-License-Identifier: Apache-2.0
// The geometry of one tetrahedron.
#include "apps/fem/tet_geometry.hpp"

#include "apps/fem/geometry.hpp"

namespace newel::fem {

using detail::cross;
using detail::dot;

TetGeometry tet_geometry(const TetMesh& mesh, Index tet) {
  const Tet& corner = mesh.tets[tet];
  std::array<Point, 3> edge;
  for (int k = 0; k < 3; ++k) {
    for (int axis = 0; axis < 3; ++axis) {
      edge[k][axis] = mesh.nodes[corner[k + 1]][axis] - mesh.nodes[corner[0]][axis];
    }
  }
  TetGeometry g;
  const Point normal = cross(edge[1], edge[2]);
  const double determinant = dot(edge[0], normal);
  const double scale = 1 / determinant;
  g.volume = determinant / 6;
  g.gradient[1] = normal;
  g.gradient[2] = cross(edge[2], edge[0]);
  g.gradient[3] = cross(edge[0], edge[1]);
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 1; k < 4; ++k) g.gradient[k][axis] *= scale;
    g.gradient[0][axis] = -(g.gradient[1][axis] + g.gradient[2][axis] + g.gradient[3][axis]);
  }
  return g;
}

Point tet_centroid(const TetMesh& mesh, Index tet) {
  Point sum{};
  for (const Index corner : mesh.tets[tet]) {
    for (int axis = 0; axis < 3; ++axis) sum[axis] += mesh.nodes[corner][axis] / 4;
  }
  return sum;
}

}  // namespace newel::fem
