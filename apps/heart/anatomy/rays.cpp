// SPDX-License-Identifier: Apache-2.0
// A bounding-volume tree and the ray-triangle test of T. Moeller and B. Trumbore, J. Graphics Tools 2, 1997.
#include "apps/heart/anatomy/rays.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"

namespace newel::fem::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index leaf_faces = 4;
constexpr int deepest = 64;  // halving 2^31 triangles ends at depth 31

// The distance along the ray, or infinity.
inline double distance_to(const Point& a, const Point& b, const Point& c, const Point& origin,
                          const Point& direction) {
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
inline double entry(const Point& low, const Point& high, const Point& origin, const Point& inverse, double limit) {
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

// How many boxes the tree over so many faces has.
Index boxes_over(Index faces) {
  if (faces <= leaf_faces) return 1;
  const Index half = faces / 2;
  return faces % 2 == 0 ? 1 + 2 * boxes_over(half) : 1 + boxes_over(half) + boxes_over(half + 1);
}

}  // namespace

RayCaster::RayCaster(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface)
    : mesh_(mesh), surface_(surface), faces_(surface.triangles.size()), corners_(surface.triangles.size()) {
  std::iota(faces_.begin(), faces_.end(), 0);
  std::vector<Point> centres(surface.triangles.size());
  parallel_for(ctx, surface.size(), [&](Index f) { centres[f] = centroid(mesh, surface.triangles[f]); });
  if (!faces_.empty()) {
    constexpr int shared_depth = 6;  // below it up to 64 subtrees, which threads build at the same time
    boxes_.resize(static_cast<std::size_t>(boxes_over(surface.size())));
    std::vector<Part> parts;
    build({0, 0, surface.size()}, centres, shared_depth, &parts);
    parallel_tasks(ctx, parts.size(), [&](std::size_t k) { build(parts[k], centres, 0, nullptr); });
  }
  parallel_for(ctx, surface.size(), [&](Index k) {
    const Triangle& t = surface.triangles[faces_[k]];
    corners_[k] = {mesh.nodes[t[0]], mesh.nodes[t[1]], mesh.nodes[t[2]]};
  });
}

void RayCaster::build(const Part& part, const std::vector<Point>& centres, int depth, std::vector<Part>* left) {
  const auto [number, begin, end] = part;
  if (left != nullptr && depth == 0) return left->push_back(part);
  Box box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}, begin, end, 0};
  for (Index k = begin; k < end; ++k) {
    for (const Index node : surface_.triangles[faces_[k]]) {
      for (int axis = 0; axis < 3; ++axis) {
        box.low[axis] = std::min(box.low[axis], mesh_.nodes[node][axis]);
        box.high[axis] = std::max(box.high[axis], mesh_.nodes[node][axis]);
      }
    }
  }
  if (end - begin <= leaf_faces) {
    boxes_[number] = box;
    return;
  }
  int longest = 0;
  for (int axis = 1; axis < 3; ++axis) {
    if (box.high[axis] - box.low[axis] > box.high[longest] - box.low[longest]) longest = axis;
  }
  const Index middle = begin + (end - begin) / 2;
  std::nth_element(faces_.begin() + begin, faces_.begin() + middle, faces_.begin() + end, [&](Index a, Index b) {
    return std::make_pair(centres[a][longest], a) < std::make_pair(centres[b][longest], b);
  });
  box.right = number + 1 + boxes_over(middle - begin);
  boxes_[number] = box;
  build({number + 1, begin, middle}, centres, depth - 1, left);
  build({box.right, middle, end}, centres, depth - 1, left);
}

// Rays from one origin, two by two: their arithmetic against a box is that of `entry`, number by number.
class RayCaster::Bundle {
 public:
  Bundle(const Point& origin, const std::vector<Point>& directions) : origin_(origin) {
    for (std::size_t k = 0; k < directions.size(); ++k) {
      for (int axis = 0; axis < 3; ++axis) inverse_[k / 2][axis][k % 2] = 1 / directions[k][axis];
    }
  }

  // Which of the rays in `rays` enter the box.
  std::uint32_t entering(const Box& box, std::uint32_t rays) const {
    double low[3], high[3];
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = box.low[axis] - origin_[axis];
      high[axis] = box.high[axis] - origin_[axis];
    }
    std::uint32_t entered = 0;
    for (int pair = 0; rays >> (2 * pair) != 0; ++pair) {
      if ((rays >> (2 * pair) & 3) == 0) continue;
      Two enter = {0, 0}, leave = {infinity, infinity};
      for (int axis = 0; axis < 3; ++axis) {
        const Two one = low[axis] * inverse_[pair][axis], two = high[axis] * inverse_[pair][axis];
        const Two first = two < one ? two : one, last = one < two ? two : one;
        enter = enter < first ? first : enter;
        leave = last < leave ? last : leave;
      }
      const std::uint32_t both = (enter[0] <= leave[0] ? 1 : 0) | (enter[1] <= leave[1] ? 2 : 0);
      entered |= both << (2 * pair);
      if (pair == 15) break;
    }
    return entered & rays;
  }

 private:
  typedef double Two __attribute__((vector_size(16)));

  Point origin_;
  Two inverse_[16][3]{};
};

std::uint32_t RayCaster::which_meet(const Point& origin, const std::vector<Point>& directions, Index ignored) const {
  if (boxes_.empty() || directions.empty()) return 0;
  const Bundle bundle(origin, directions);
  struct Waiting {
    Index box;
    std::uint32_t rays;
  };
  Waiting stack[deepest];
  int depth = 0;
  std::uint32_t free = ~std::uint32_t{0} >> (32 - directions.size());  // have met nothing
  const std::uint32_t all = free;
  stack[depth++] = {0, free};
  while (depth > 0) {
    const Waiting next = stack[--depth];
    const Box& box = boxes_[next.box];
    const std::uint32_t rays = bundle.entering(box, next.rays & free);
    if (rays == 0) continue;
    if (box.right != 0) {
      stack[depth++] = {box.right, rays};
      stack[depth++] = {next.box + 1, rays};
      continue;
    }
    for (Index k = box.begin; k < box.end; ++k) {
      if (faces_[k] == ignored) continue;
      const std::array<Point, 3>& c = corners_[static_cast<std::size_t>(k)];
      for (std::uint32_t left = rays & free; left != 0; left &= left - 1) {
        const int ray = __builtin_ctz(left);
        const double distance = distance_to(c[0], c[1], c[2], origin, directions[static_cast<std::size_t>(ray)]);
        if (distance < infinity) free &= ~(std::uint32_t{1} << ray);
      }
    }
  }
  return all & ~free;
}

RayCaster::Hit RayCaster::first_hit(const Point& origin, const Point& direction, Index ignored) const {
  const Point inverse{1 / direction[0], 1 / direction[1], 1 / direction[2]};
  Hit hit{-1, infinity};
  if (boxes_.empty()) return hit;
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
      if (faces_[k] == ignored) continue;
      const std::array<Point, 3>& c = corners_[static_cast<std::size_t>(k)];
      const double distance = distance_to(c[0], c[1], c[2], origin, direction);
      if (distance < hit.distance) hit = {faces_[k], distance};
    }
  }
  return hit;
}

}  // namespace newel::fem::detail
