// SPDX-License-Identifier: Apache-2.0
// The frame that rigid body modes are written in.
#include <purlin/precond/amg/near_null.hpp>

#include <algorithm>

namespace purlin::detail {

ModeFrame::ModeFrame(const NodeCoordinates& c) {
  double low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
  for (std::size_t i = 0; i < c.xyz.size(); ++i) {
    const auto d = i % static_cast<std::size_t>(c.dimension);
    const bool first = i < static_cast<std::size_t>(c.dimension);
    low[d] = first ? c.xyz[i] : std::min(low[d], c.xyz[i]);
    high[d] = first ? c.xyz[i] : std::max(high[d], c.xyz[i]);
  }
  double extent = 0;
  for (int d = 0; d < 3; ++d) {
    middle[d] = 0.5 * (low[d] + high[d]);
    extent = std::max(extent, high[d] - low[d]);
  }
  if (extent > 0) scale = 2 / extent;
}

}  // namespace purlin::detail
