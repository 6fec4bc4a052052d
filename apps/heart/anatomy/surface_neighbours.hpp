// SPDX-License-Identifier: Apache-2.0
/// Which triangles of a surface share sides. For the rule-based fibres alone.
#pragma once

#include "apps/fem/surface.hpp"

namespace newel::fem::detail {

/// For each triangle the three across its sides, side k being opposite corner k; -1 where a side is not shared by
/// exactly two.
using Neighbours = std::vector<std::array<Index, 3>>;

/// O(nodes + triangles).
Neighbours neighbours(const Context<Space::host>& ctx, const TetMesh& mesh, const Surface& surface);

}  // namespace newel::fem::detail
