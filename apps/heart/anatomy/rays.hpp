// SPDX-License-Identifier: Apache-2.0
/// Rays against the triangles of a surface. For the rule-based fibres alone.
#pragma once

#include <cstdint>

#include "apps/fem/surface.hpp"

namespace newel::fem::detail {

/// A tree of boxes over the triangles, halved at the middle triangle along the longest side.
class RayCaster {
 public:
  /// Keeps references to mesh and surface. The same tree for any number of threads.
  RayCaster(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface);

  /// The first triangle other than `ignored` that the ray meets, and at what distance; -1 for none. Safe to call by
  /// several threads.
  struct Hit {
    Index face = -1;
    double distance = 0;
  };
  Hit first_hit(const Point& origin, const Point& direction, Index ignored) const;
  /// Which of several rays from one origin, 32 at most, meet any: bit k is set for direction k. The tree is walked
  /// once for all of them, so that what a box costs is shared.
  std::uint32_t which_meet(const Point& origin, const std::vector<Point>& directions, Index ignored) const;

  /// All triangles, so that neighbours in this order lie close to each other: rays from one after the other read the
  /// same boxes.
  const std::vector<Index>& in_space() const { return faces_; }

 private:
  struct Box {
    Point low, high;
    Index begin, end;  // of faces_ and corners_
    Index right;       // the left child follows its parent; 0: a leaf
  };
  // A subtree that is still to be built: the number of its first box, and its faces.
  struct Part {
    Index number, begin, end;
  };
  // Builds the subtree; leaves those below `depth` to `left`, where it is not null.
  void build(const Part& part, const std::vector<Point>& centres, int depth, std::vector<Part>* left);
  class Bundle;

  const TetMesh& mesh_;
  const Surface& surface_;
  std::vector<Index> faces_;                   // by leaf
  std::vector<std::array<Point, 3>> corners_;  // of these
  std::vector<Box> boxes_;
};

}  // namespace newel::fem::detail
