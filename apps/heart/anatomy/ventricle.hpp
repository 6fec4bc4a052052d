// SPDX-License-Identifier: Apache-2.0
/// An idealised left ventricle: a truncated ellipsoid of any resolution, with fibres in closed form.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::fem {

/// Two ellipsoids of revolution about the z axis, cut by the plane z = base. Defaults: the geometry of S. Land et
/// al., "Verification of cardiac mechanics software: benchmark problems and solutions for testing active and passive
/// material behaviour", Proc. R. Soc. A 471, 2015, problem 2, in mm: a wall of 3 mm, 25 mm from apex to base, 3.2 cm3
/// of tissue. That is the left ventricle of a rabbit; three times its lengths are a human's.
struct VentricleShape {
  double inner_radius = 7, inner_length = 17;   ///< semi-axes of the cavity, across and along z
  double outer_radius = 10, outer_length = 20;  ///< semi-axes of the outer surface
  double base = 5;  ///< the base lies in the plane z = base, the apex at z = -outer_length
  double inner_degrees = 60, outer_degrees = -60;  ///< helix angle of the fibres at the two surfaces
};

/// Which surfaces a node lies on, as bits.
enum VentricleSide : std::uint8_t { inside_wall = 0, on_inner = 1, on_outer = 2, on_base = 4 };

struct Ventricle {
  TetMesh mesh;
  std::vector<Point> fibers;        ///< per tetrahedron, of length 1, taken at its middle
  std::vector<double> transmural;   ///< per node: 0 on the inner surface, 1 on the outer one
  std::vector<std::uint8_t> sides;  ///< per node, a sum of VentricleSide
  Index layers = 0;                 ///< of tetrahedra through the wall
};

/// Between the surfaces lie the ellipsoids of semi-axes r(t) and l(t), both linear in t. This is t at a point of
/// the wall (0 inside, 1 outside; clamped beyond).
double transmural_coordinate(const VentricleShape& shape, const Point& at);

/// The fibre at a point of the wall: cos(a) e_c + sin(a) e_l, with e_c around the axis counterclockwise seen from the
/// base, e_l along the meridian of the point's own ellipsoid towards the base, and a linear in t. On the axis, where
/// both are undefined, (1, 0, 0).
Point ventricle_fiber(const VentricleShape& shape, const Point& at);

/// A mesh of about `target_nodes` nodes (within 10 per cent, from 3000 on within 4; 300 to 20 million): a
/// triangulation of the middle ellipsoid, made of rings around the apex with as many nodes as their length asks for,
/// is repeated in layers through the wall; every prism between layers becomes three tetrahedra. The apex is a node
/// like others, with six neighbours in its layer. The same arguments give the same bits for any number of threads.
/// Nodes are numbered column by column through the wall, from the apex to the base.
///
/// With the default shape, in mm (a wave front is 1 to 2 mm wide, and lengths grow with the shape's):
///
///     nodes     tetrahedra   layers   edge: shortest, mean, longest
///     3 k         14 k       3        0.93  1.35  2.03
///     5 k         24 k       4        0.75  1.13  1.73
///     10 k        51 k       5        0.60  0.89  1.35
///     30 k       156 k       7        0.42  0.61  0.94
///     50 k       266 k       8        0.35  0.50  0.79
///     200 k      1.1 M      13        0.22  0.31  0.50
///     1 M        5.7 M      22        0.12  0.18  0.29
///
/// From 700 nodes on, all angles between two faces of a tetrahedron lie between 26 and 127 degrees. A million nodes
/// take 5 s.
///
/// Throws InputError for semi-axes that are not positive and nested, a base outside of the cavity, and a target out
/// of range.
Ventricle make_ventricle(const Context<Space::host>& ctx, std::int64_t target_nodes,
                         const VentricleShape& shape = {});

}  // namespace newel::fem
