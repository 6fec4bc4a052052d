// SPDX-License-Identifier: Apache-2.0
// A bounding-volume tree and the ray-triangle test of T. Moeller and B. Trumbore, J. Graphics Tools 2, 1997.
#include "apps/heart/anatomy/rays.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "apps/fem/geometry.hpp"

namespace purlin::fem::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index leaf_faces = 4;

// The distance along the ray, or infinity.
double distance_to(const Point& a, const Point& b, const Point& c, const Point& origin, const Point& direction) {
  const Point ab = minus(b, a), ac = minus(c, a);
  const Point p = cross(direction, ac);
  const double determinant = dot(ab, p);
  if (determinant == 0) return infinity;
  const Point from = minus(origin, a);
  const double u = dot(from, p) / determinant;
  if (!(u >= 0 && u <= 1)) return infinity;
  const Point q = cross(from, ab);
  const double v = dot(direction, q) / determinant;
  if (!(v >= 0 && u + v <= 1)) return infinity;
  const double distance = dot(ac, q) / determinant;
  return distance > 0 ? distance : infinity;
}

// Where the ray enters a box, or infinity; `inverse` is 1 / direction, with infinities.
double entry(const Point& low, const Point& high, const Point& origin, const Point& inverse, double limit) {
  double enter = 0, leave = limit;
  for (int axis = 0; axis < 3; ++axis) {
    const double one = (low[axis] - origin[axis]) * inverse[axis];
    const double two = (high[axis] - origin[axis]) * inverse[axis];
    // 0 * infinity is no number: the ray runs within a side of the box, and the comparisons keep the other bounds.
    enter = std::max(enter, std::min(one, two));
    leave = std::min(leave, std::max(one, two));
  }
  return enter <= leave ? enter : infinity;
}

}  // namespace

RayCaster::RayCaster(const TetMesh& mesh, const Surface& surface)
    : mesh_(mesh), surface_(surface), faces_(surface.triangles.size()) {
  std::iota(faces_.begin(), faces_.end(), 0);
  std::vector<Point> centres(surface.triangles.size());
  for (Index f = 0; f < surface.size(); ++f) centres[f] = centroid(mesh, surface.triangles[f]);
  if (!faces_.empty()) build(0, surface.size(), centres);
}

Index RayCaster::build(Index begin, Index end, const std::vector<Point>& centres) {
  const auto number = static_cast<Index>(boxes_.size());
  Box box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}, begin, end, 0};
  for (Index k = begin; k < end; ++k) {
    for (const Index node : surface_.triangles[faces_[k]]) {
      for (int axis = 0; axis < 3; ++axis) {
        box.low[axis] = std::min(box.low[axis], mesh_.nodes[node][axis]);
        box.high[axis] = std::max(box.high[axis], mesh_.nodes[node][axis]);
      }
    }
  }
  boxes_.push_back(box);
  if (end - begin <= leaf_faces) return number;
  int longest = 0;
  for (int axis = 1; axis < 3; ++axis) {
    if (box.high[axis] - box.low[axis] > box.high[longest] - box.low[longest]) longest = axis;
  }
  const Index middle = begin + (end - begin) / 2;
  std::nth_element(faces_.begin() + begin, faces_.begin() + middle, faces_.begin() + end, [&](Index a, Index b) {
    return std::make_pair(centres[a][longest], a) < std::make_pair(centres[b][longest], b);
  });
  build(begin, middle, centres);
  const Index right = build(middle, end, centres);
  boxes_[number].right = right;
  return number;
}

template <bool any>
RayCaster::Hit RayCaster::walk(const Point& origin, const Point& direction, Index ignored) const {
  const Point inverse{1 / direction[0], 1 / direction[1], 1 / direction[2]};
  Hit hit{-1, infinity};
  if (boxes_.empty()) return hit;
  constexpr int deepest = 64;  // halving 2^31 triangles ends at depth 31
  Index stack[deepest];
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Index number = stack[--depth];
    const Box& box = boxes_[number];
    if (entry(box.low, box.high, origin, inverse, hit.distance) == infinity) continue;
    if (box.right != 0) {
      stack[depth++] = box.right;
      stack[depth++] = number + 1;
      continue;
    }
    for (Index k = box.begin; k < box.end; ++k) {
      const Index face = faces_[k];
      if (face == ignored) continue;
      const Triangle& t = surface_.triangles[face];
      const double distance = distance_to(mesh_.nodes[t[0]], mesh_.nodes[t[1]], mesh_.nodes[t[2]], origin, direction);
      if (distance >= hit.distance) continue;
      hit = {face, distance};
      if (any) return hit;
    }
  }
  return hit;
}

RayCaster::Hit RayCaster::first_hit(const Point& origin, const Point& direction, Index ignored) const {
  return walk<false>(origin, direction, ignored);
}

bool RayCaster::meets(const Point& origin, const Point& direction, Index ignored) const {
  return walk<true>(origin, direction, ignored).face >= 0;
}

}  // namespace purlin::fem::detail
