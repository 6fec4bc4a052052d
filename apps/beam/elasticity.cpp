// SPDX-License-Identifier: Apache-2.0
// The element matrices of quadratic tetrahedra, by block rows.
#include "elasticity.hpp"

#include <limits>
#include <string>

#include <newel/core/error.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/fem/node_elements.hpp"
#include "apps/fem/row_assembly.hpp"

namespace newel::beam {
namespace {

using fem::Point;
using fem::detail::cross;
using fem::detail::dot;
using fem::detail::minus;

constexpr int corners = 4;
constexpr int nodes = 10;
// The ends of the edge of node 4, 5, ...
constexpr std::array<std::array<int, 2>, 6> ends = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

// Four points of equal weight integrate polynomials of degree 2, which products of the gradients are. (A. H. Stroud,
// "Approximate Calculation of Multiple Integrals", 1971, T3: 2-1.) A point has `near` at one corner, `far` at three.
constexpr double near = 0.58541019662496845446;
constexpr double far = 0.13819660112501051518;

struct Simplex {
  double volume;
  std::array<Point, corners> gradient;  // of the barycentric coordinates
};

Simplex simplex_of(const QuadraticMesh& mesh, Index t) {
  const QuadraticTet& tet = mesh.tets[static_cast<std::size_t>(t)];
  const auto node = [&](int corner) { return mesh.nodes[static_cast<std::size_t>(tet[corner])]; };
  const Point a = minus(node(1), node(0)), b = minus(node(2), node(0)), c = minus(node(3), node(0));
  Simplex s{dot(a, cross(b, c)) / 6, {{{}, cross(b, c), cross(c, a), cross(a, b)}}};
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 1; k < corners; ++k) s.gradient[k][axis] /= 6 * s.volume;
    s.gradient[0][axis] = -(s.gradient[1][axis] + s.gradient[2][axis] + s.gradient[3][axis]);
  }
  return s;
}

// Of shape function `a` at the point next to corner `point`: L (2 L - 1) of a corner, 4 L L' of an edge.
Point gradient_at(const Simplex& s, int a, int point) {
  const auto coordinate = [point](int corner) { return corner == point ? near : far; };
  Point g{};
  if (a < corners) {
    return fem::detail::plus(g, 4 * coordinate(a) - 1, s.gradient[a]);
  }
  const auto [i, j] = ends[a - corners];
  g = fem::detail::plus(g, 4 * coordinate(j), s.gradient[i]);
  return fem::detail::plus(g, 4 * coordinate(i), s.gradient[j]);
}

// The integral of N_a N_b over a tetrahedron of volume 420.
double mass_of(int a, int b) {
  if (a > b) std::swap(a, b);
  if (b < corners) return a == b ? 6 : 1;
  const auto [i, j] = ends[b - corners];
  if (a < corners) return a == i || a == j ? -4 : -6;
  const auto [k, l] = ends[a - corners];
  if (a == b) return 32;
  return i == k || i == l || j == k || j == l ? 16 : 8;
}

void check(const QuadraticMesh& mesh, const Material& m) {
  if (!(m.youngs_modulus > 0)) {
    throw InputError("Young's modulus must be positive, not " + std::to_string(m.youngs_modulus));
  }
  if (!(m.density > 0)) throw InputError("the density must be positive, not " + std::to_string(m.density));
  if (!(m.poisson_ratio > -1 && m.poisson_ratio < 0.5)) {
    throw InputError("Poisson's ratio must be between -1 and 1/2, not " + std::to_string(m.poisson_ratio));
  }
  if (mesh.node_count() > std::numeric_limits<Index>::max() / 3) {
    throw InputError("three rows for each of " + std::to_string(mesh.node_count()) + " nodes exceed 32-bit numbers");
  }
  for (std::size_t t = 0; t < mesh.tets.size(); ++t) {
    const double volume = simplex_of(mesh, static_cast<Index>(t)).volume;
    if (!(volume > 0)) {
      throw InputError("tetrahedron " + std::to_string(t) + " (counted from 0) has volume " + std::to_string(volume) +
                       ", expected a positive one");
    }
  }
}

}  // namespace

ElasticBody assemble_body(const Context<Space::host>& ctx, const QuadraticMesh& mesh, const Material& material,
                          const std::vector<unsigned char>& clamped) {
  check(mesh, material);
  const double poisson = material.poisson_ratio;
  const double mu = material.youngs_modulus / (2 * (1 + poisson));
  const double lambda = 2 * mu * poisson / (1 - 2 * poisson);
  const fem::NodeTets around = fem::detail::node_elements(ctx, mesh.node_count(), mesh.tets);
  ElasticBody body;
  body.stiffness = fem::detail::assemble_rows<3>(ctx, mesh, around, clamped, [&](Index t, int a, auto& row) {
    const Simplex s = simplex_of(mesh, t);
    for (auto& block : row) block = {};
    for (int point = 0; point < corners; ++point) {
      const double weight = s.volume / corners;
      const Point ga = gradient_at(s, a, point);
      for (int b = 0; b < nodes; ++b) {
        const Point gb = gradient_at(s, b, point);
        const double shear = weight * mu * dot(ga, gb);
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) {
            // Products of gradients first: both entries of a transposed pair round alike.
            const double entry = weight * lambda * (ga[i] * gb[j]) + weight * mu * (ga[j] * gb[i]);
            row[b][3 * i + j] += i == j ? entry + shear : entry;
          }
        }
      }
    }
  });
  body.mass = fem::detail::assemble_rows<3>(ctx, mesh, around, clamped, [&](Index t, int a, auto& row) {
    const double scale = material.density * simplex_of(mesh, t).volume / 420;
    for (int b = 0; b < nodes; ++b) {
      row[b] = {};
      for (int i = 0; i < 3; ++i) row[b][4 * i] = scale * mass_of(a, b);
    }
  });
  return body;
}

}  // namespace newel::beam
