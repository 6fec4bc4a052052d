// SPDX-License-Identifier: Apache-2.0
/// Rays against the triangles of a surface. For the rule-based fibres alone.
#pragma once

#include "apps/fem/surface.hpp"

namespace purlin::fem::detail {

/// A tree of boxes over the triangles, halved at the middle triangle along the longest side.
class RayCaster {
 public:
  /// Keeps references to both.
  RayCaster(const TetMesh& mesh, const Surface& surface);

  /// The first triangle other than `ignored` that the ray meets, and at what distance; -1 for none. Safe to call by
  /// several threads.
  struct Hit {
    Index face = -1;
    double distance = 0;
  };
  Hit first_hit(const Point& origin, const Point& direction, Index ignored) const;
  /// Whether it meets any, which is cheaper.
  bool meets(const Point& origin, const Point& direction, Index ignored) const;

 private:
  struct Box {
    Point low, high;
    Index begin, end;  // of faces_
    Index right;       // the left child follows its parent; 0: a leaf
  };
  Index build(Index begin, Index end, const std::vector<Point>& centres);
  template <bool any>
  Hit walk(const Point& origin, const Point& direction, Index ignored) const;

  const TetMesh& mesh_;
  const Surface& surface_;
  std::vector<Index> faces_;
  std::vector<Box> boxes_;
};

}  // namespace purlin::fem::detail
