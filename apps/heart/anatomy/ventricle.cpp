// SPDX-License-Identifier: Apache-2.0
// Layers of one surface triangulation between two ellipsoids, cut into tetrahedra, and fibres in closed form.
#include "apps/heart/anatomy/ventricle.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/heart/anatomy/ellipsoid_surface.hpp"

namespace newel::fem {
namespace {

const double pi = std::acos(-1.0);

// The ellipsoid at depth t of the wall. Points on it are at (r sin u, -l cos u) across and along z, u = 0 at the
// apex.
detail::Ellipsoid ellipsoid_at(const VentricleShape& shape, double t) {
  return {shape.inner_radius + t * (shape.outer_radius - shape.inner_radius),
          shape.inner_length + t * (shape.outer_length - shape.inner_length), shape.base};
}

void check(const VentricleShape& s, std::int64_t target_nodes) {
  if (!(s.inner_radius > 0 && s.inner_length > 0)) {
    throw InputError("a ventricle's semi-axes must be positive, not " + std::to_string(s.inner_radius) + " and " +
                     std::to_string(s.inner_length));
  }
  if (!(s.outer_radius > s.inner_radius && s.outer_length > s.inner_length) || !std::isfinite(s.outer_radius) ||
      !std::isfinite(s.outer_length)) {
    throw InputError("a ventricle's outer semi-axes must exceed the inner ones, but " +
                     std::to_string(s.outer_radius) + " and " + std::to_string(s.outer_length) + " do not");
  }
  if (!(std::fabs(s.base) < 0.9 * s.inner_length)) {
    throw InputError("a ventricle's base must lie within 0.9 of the cavity's semi-axis " +
                     std::to_string(s.inner_length) + ", not at " + std::to_string(s.base));
  }
  constexpr std::int64_t least = 300, most = 20000000;
  if (target_nodes < least || target_nodes > most) {
    throw InputError("expected " + std::to_string(least) + " to " + std::to_string(most) +
                     " nodes in a ventricle, found " + std::to_string(target_nodes));
  }
}

// Layers whose thickness, and edges whose length, give about `target` nodes and well-shaped tetrahedra: prisms of
// height 0.8 times the edge of their triangles.
struct Sizes {
  Index layers;
  double edge;
};

constexpr double height_of_edge = 0.8;

Sizes choose_sizes(const VentricleShape& shape, std::int64_t target) {
  const detail::Ellipsoid middle = ellipsoid_at(shape, 0.5);
  const double wall = std::min(shape.outer_radius - shape.inner_radius, shape.outer_length - shape.inner_length);
  // Nodes of a surface of equilateral triangles: one per 0.866 edge^2.
  const double area = detail::area(middle);
  const auto edge_for = [&](Index layers) {
    return std::sqrt(area * (layers + 1) / (std::sqrt(0.75) * static_cast<double>(target)));
  };
  Index layers = 1;
  while (wall / layers > height_of_edge * edge_for(layers)) ++layers;
  if (layers > 1) {
    // The neighbour may be nearer to the ratio.
    const double thin = height_of_edge * edge_for(layers) * layers / wall;
    const double thick = wall / ((layers - 1) * height_of_edge * edge_for(layers - 1));
    if (thick < thin) --layers;
  }
  return {layers, edge_for(layers)};
}

}  // namespace

double transmural_coordinate(const VentricleShape& shape, const Point& at) {
  const double across2 = at[0] * at[0] + at[1] * at[1];
  const auto outside = [&](double t) {
    const detail::Ellipsoid e = ellipsoid_at(shape, t);
    return across2 / (e.radius * e.radius) + at[2] * at[2] / (e.length * e.length) > 1;
  };
  if (!outside(0)) return 0;
  if (outside(1)) return 1;
  double low = 0, high = 1;  // both semi-axes grow with t: one sign change
  for (int step = 0; step < 52; ++step) {
    const double middle = (low + high) / 2;
    (outside(middle) ? low : high) = middle;
  }
  return (low + high) / 2;
}

Point ventricle_fiber(const VentricleShape& shape, const Point& at) {
  const double across = std::hypot(at[0], at[1]);
  if (!(across > 0)) return {1, 0, 0};
  const double t = transmural_coordinate(shape, at);
  const detail::Ellipsoid e = ellipsoid_at(shape, t);
  const Point around{-at[1] / across, at[0] / across, 0};
  // The derivative of (r sin u, -l cos u) by u is (r cos u, l sin u).
  const double along_r = -at[2] / e.length * e.radius;
  const double along_z = across / e.radius * e.length;
  const Point up = detail::normalised({along_r * at[0] / across, along_r * at[1] / across, along_z});
  const double angle = (shape.inner_degrees + t * (shape.outer_degrees - shape.inner_degrees)) * pi / 180;
  Point fiber{};
  for (int k = 0; k < 3; ++k) fiber[k] = std::cos(angle) * around[k] + std::sin(angle) * up[k];
  return detail::normalised(fiber);
}

Ventricle make_ventricle(const Context<Space::host>& ctx, std::int64_t target_nodes, const VentricleShape& shape) {
  check(shape, target_nodes);
  const Sizes sizes = choose_sizes(shape, target_nodes);
  const detail::Ellipsoid middle = ellipsoid_at(shape, 0.5);
  const detail::SurfaceMesh surface = detail::triangulate(middle, sizes.edge);
  const auto columns = static_cast<Index>(surface.nodes.size());
  const Index sheets = sizes.layers + 1;

  Ventricle result;
  result.layers = sizes.layers;
  const std::size_t nodes = std::size_t(columns) * sheets;
  result.mesh.nodes.resize(nodes);
  result.transmural.resize(nodes);
  result.sides.resize(nodes);
  parallel_for(ctx, columns, [&](Index c) {
    const Point& on_middle = surface.nodes[c];
    const double across = std::hypot(on_middle[0], on_middle[1]);
    const double share = detail::parameter(middle, on_middle) / detail::base_parameter(middle);
    for (Index j = 0; j < sheets; ++j) {
      const double t = static_cast<double>(j) / sizes.layers;
      const detail::Ellipsoid e = ellipsoid_at(shape, t);
      const double u = share * detail::base_parameter(e);
      const double r = across > 0 ? e.radius * std::sin(u) / across : 0;
      const std::size_t node = std::size_t(c) * sheets + j;
      const double z = c < surface.first_base ? -e.length * std::cos(u) : shape.base;
      result.mesh.nodes[node] = {r * on_middle[0], r * on_middle[1], z};
      result.transmural[node] = t;
      result.sides[node] = static_cast<std::uint8_t>((j == 0 ? on_inner : 0) | (j == sizes.layers ? on_outer : 0) |
                                                     (c >= surface.first_base ? on_base : 0));
    }
  });

  const std::size_t triangles = surface.triangles.size();
  result.mesh.tets.resize(3 * triangles * sizes.layers);
  result.fibers.resize(result.mesh.tets.size());
  parallel_for(ctx, triangles, [&](std::size_t k) {
    // Cutting every prism along its columns in ascending order makes neighbours agree on their common face.
    std::array<Index, 3> c = surface.triangles[k];
    std::sort(c.begin(), c.end());
    for (Index j = 0; j < sizes.layers; ++j) {
      const auto node = [&](Index column, Index up) { return column * sheets + j + up; };
      const Tet cut[3] = {{node(c[0], 0), node(c[1], 0), node(c[2], 0), node(c[2], 1)},
                          {node(c[0], 0), node(c[1], 0), node(c[1], 1), node(c[2], 1)},
                          {node(c[0], 0), node(c[0], 1), node(c[1], 1), node(c[2], 1)}};
      for (int part = 0; part < 3; ++part) {
        const std::size_t t = 3 * (k * sizes.layers + j) + part;
        result.mesh.tets[t] = cut[part];
        if (element_volume(result.mesh, static_cast<Index>(t)) < 0) {
          std::swap(result.mesh.tets[t][2], result.mesh.tets[t][3]);
        }
        Point at{};
        for (const Index corner : cut[part]) at = detail::plus(at, 0.25, result.mesh.nodes[corner]);
        result.fibers[t] = ventricle_fiber(shape, at);
      }
    }
  });
  return result;
}

}  // namespace newel::fem
