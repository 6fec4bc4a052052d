// SPDX-License-Identifier: Apache-2.0
/// Which triangles of a heart's surface are inner, outer and base, found from their shape. For the rule-based fibres.
#pragma once

#include "apps/fem/surface.hpp"

namespace newel::fem::detail {

enum class Side : unsigned char { inner, outer, insulated };

struct WallFaces {
  std::vector<Side> side;  ///< per triangle: where the transmural coordinate is 0, 1, and free
  Point axis{};
  int cavities = 0;
};

/// As make_fibers describes it.
WallFaces classify_faces(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface);

}  // namespace newel::fem::detail
