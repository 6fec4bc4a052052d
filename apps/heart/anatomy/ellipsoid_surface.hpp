// SPDX-License-Identifier: Apache-2.0
/// A triangulation of a truncated ellipsoid of revolution with edges of one length. For the ventricle alone.
#pragma once

#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::fem::detail {

/// (x^2 + y^2) / radius^2 + z^2 / length^2 = 1 below the plane z = base. The apex is at z = -length.
struct Ellipsoid {
  double radius, length, base;
};

/// The parameter u of a point (radius sin u, -length cos u) on the meridian: 0 at the apex.
double parameter(const Ellipsoid& e, const Point& at);
/// u on the rim, where z = base.
double base_parameter(const Ellipsoid& e);
/// Of the surface without the opening, by quadrature to 6 digits.
double area(const Ellipsoid& e);

struct SurfaceMesh {
  std::vector<Point> nodes;  ///< the apex first, then ring by ring up to the rim
  std::vector<std::array<Index, 3>> triangles;
  Index first_base;  ///< this node and those behind it are the rim's
};

/// Rings around the apex at equal distances along the meridian, each with as many nodes as its length asks for and
/// turned by half a step from the one below, joined by strips of triangles whose diagonals are the shorter ones.
/// Angles lie between 38 and 98 degrees; flips of edges and smoothing were tried and made the tetrahedra above no
/// better.
SurfaceMesh triangulate(const Ellipsoid& e, double edge);

}  // namespace newel::fem::detail
