// SPDX-License-Identifier: Apache-2.0
// Rings around the apex and strips of triangles between them.
#include "apps/heart/anatomy/ellipsoid_surface.hpp"

#include <algorithm>
#include <cmath>

#include "apps/fem/geometry.hpp"

namespace newel::fem::detail {
namespace {

using Triangle = std::array<Index, 3>;
const double pi = std::acos(-1.0);

// Steps of the quadrature along the meridian.
constexpr int steps = 4096;

// Arc length from the apex at u = k / steps of the rim's parameter.
std::vector<double> arc_lengths(const Ellipsoid& e) {
  std::vector<double> arc(steps + 1, 0);
  const double step = base_parameter(e) / steps;
  for (int k = 0; k < steps; ++k) {
    const double u = (k + 0.5) * step;
    arc[k + 1] = arc[k] + step * std::hypot(e.radius * std::cos(u), e.length * std::sin(u));
  }
  return arc;
}

// The first node of each ring, and one past the last: ring 0 is the apex.
std::vector<Index> place_rings(const Ellipsoid& e, double edge, std::vector<Point>& nodes) {
  const std::vector<double> arc = arc_lengths(e);
  const int rings = std::max(2, static_cast<int>(std::lround(arc.back() / (std::sqrt(0.75) * edge))));
  nodes.push_back({0, 0, -e.length});
  std::vector<Index> first{0, 1};
  double turn = 0;
  for (int k = 1; k <= rings; ++k) {
    const double wanted = arc.back() * k / rings;
    const auto above = std::lower_bound(arc.begin() + 1, arc.end() - 1, wanted);
    const double within = (wanted - *(above - 1)) / (*above - *(above - 1));
    const double u = k == rings ? base_parameter(e)
                                : base_parameter(e) / steps * (static_cast<double>(above - arc.begin()) - 1 + within);
    const double r = e.radius * std::sin(u);
    const int count = std::max(6, static_cast<int>(std::lround(2 * pi * r / edge)));
    turn += pi / count;  // half a step: the nodes of equal rings stand in gaps
    for (int i = 0; i < count; ++i) {
      const double angle = turn + 2 * pi * i / count;
      nodes.push_back({r * std::cos(angle), r * std::sin(angle), k == rings ? e.base : -e.length * std::cos(u)});
    }
    first.push_back(static_cast<Index>(nodes.size()));
  }
  return first;
}

// Triangles between two rings: from the front edge (a, b) to the next node of the ring that is nearer.
void join(const std::vector<Point>& nodes, Index lower, Index lower_count, Index upper, Index upper_count,
          std::vector<Triangle>& triangles) {
  const auto distance = [&](Index a, Index b) { return length(minus(nodes[a], nodes[b])); };
  Index a = 0, b = 0;
  const Index lower_edges = lower_count == 1 ? 0 : lower_count;  // the apex is a ring without edges
  Index nearest = 0;
  for (Index k = 1; k < upper_count; ++k) {
    if (distance(lower, upper + k) < distance(lower, upper + nearest)) nearest = k;
  }
  const auto low = [&](Index k) { return lower + k % lower_count; };
  const auto high = [&](Index k) { return upper + (nearest + k) % upper_count; };
  while (a < lower_edges || b < upper_count) {
    const bool up =
        b < upper_count && (a == lower_edges || distance(low(a), high(b + 1)) <= distance(low(a + 1), high(b)));
    if (up) {
      triangles.push_back({low(a), high(b + 1), high(b)});
      ++b;
    } else {
      triangles.push_back({low(a), low(a + 1), high(b)});
      ++a;
    }
  }
}

}  // namespace

double parameter(const Ellipsoid& e, const Point& at) {
  return std::acos(std::max(-1.0, std::min(1.0, -at[2] / e.length)));
}

double base_parameter(const Ellipsoid& e) { return std::acos(-e.base / e.length); }

double area(const Ellipsoid& e) {
  double sum = 0;
  const double step = base_parameter(e) / steps;
  for (int k = 0; k < steps; ++k) {
    const double u = (k + 0.5) * step;
    sum += 2 * pi * e.radius * std::sin(u) * step * std::hypot(e.radius * std::cos(u), e.length * std::sin(u));
  }
  return sum;
}

SurfaceMesh triangulate(const Ellipsoid& e, double edge) {
  SurfaceMesh mesh;
  const std::vector<Index> first = place_rings(e, edge, mesh.nodes);
  for (std::size_t k = 0; k + 2 < first.size(); ++k) {
    join(mesh.nodes, first[k], first[k + 1] - first[k], first[k + 1], first[k + 2] - first[k + 1], mesh.triangles);
  }
  mesh.first_base = first[first.size() - 2];
  return mesh;
}

}  // namespace newel::fem::detail
