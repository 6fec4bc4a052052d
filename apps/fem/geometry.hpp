// SPDX-License-Identifier: Apache-2.0
/// Vectors in space: the few lines of arithmetic that meshes, surfaces and fibres share.
#pragma once

#include <cmath>

#include "apps/fem/mesh.hpp"

namespace newel::fem::detail {

inline double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

inline Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// x + s y.
inline Point plus(const Point& x, double s, const Point& y) {
  return {x[0] + s * y[0], x[1] + s * y[1], x[2] + s * y[2]};
}

inline double length(const Point& a) { return std::sqrt(dot(a, a)); }

/// Of length 1; a zero vector stays zero.
inline Point normalised(const Point& a) {
  const double l = length(a);
  return l > 0 ? Point{a[0] / l, a[1] / l, a[2] / l} : Point{};
}

}  // namespace newel::fem::detail
