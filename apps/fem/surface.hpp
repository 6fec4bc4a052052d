// SPDX-License-Identifier: Apache-2.0
/// The triangles around a tetrahedral mesh, and the integrals over them that boundary conditions need.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "apps/fem/assembly.hpp"

namespace newel::fem {

using Triangle = std::array<Index, 3>;

/// The faces that belong to one tetrahedron only, in ascending order of that tetrahedron (and of the opposite corner
/// within it). Corners turn counterclockwise seen from outside: (b-a) x (c-a) points out of the body.
struct Surface {
  std::vector<Triangle> triangles;
  std::vector<Index> tet;  ///< the tetrahedron behind each triangle
  std::vector<double> area;
  std::vector<Point> normal;  ///< of length 1, outward

  Index size() const { return static_cast<Index>(triangles.size()); }
};

/// Needs positively oriented tetrahedra. Throws InputError that names a face shared by three tetrahedra or more.
Surface boundary_surface(const Context<Space::host>& ctx, const TetMesh& mesh);
/// The same with node_tets of the mesh at hand.
Surface boundary_surface(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around);

/// The middle of a triangle.
Point centroid(const TetMesh& mesh, const Triangle& triangle);

/// A coefficient, constant on each triangle; 0 leaves a triangle out. Called once per triangle, by several threads at
/// once; must not throw.
using FaceField = std::function<double(Index face, const Point& centroid, const Point& normal)>;

/// Adds the integral of c v u over the surface (consistent, exact for P1) to `a`, which has the pattern that
/// assemble_diffusion or assemble_mass gives without clamped nodes. Convection h (u - u_inf) on the surface is
/// add_surface_mass with c = h and assemble_surface_load with g = h u_inf. Rows gather, so the bits do not depend on
/// the number of threads, and symmetry is kept bit for bit.
/// Throws InputError when an entry is missing in the pattern.
void add_surface_mass(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                      const FaceField& c, HostCsr& a);

/// The integrals of v g over the surface, one value per node of the mesh.
HostVector assemble_surface_load(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface,
                                 const FaceField& g);

}  // namespace newel::fem
