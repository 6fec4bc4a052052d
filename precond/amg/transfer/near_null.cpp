// SPDX-License-Identifier: Apache-2.0
// The frame that rigid body modes are written in.
#include "precond/amg/transfer/near_null.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>

namespace newel::detail {

ModeFrame::ModeFrame(const HostContext& ctx, const NodeCoordinates& c) {
  const auto nodes = static_cast<Index>(c.xyz.size() / static_cast<std::size_t>(c.dimension));
  if (nodes == 0) return;
  double extent = 0;
  for (int d = 0; d < c.dimension; ++d) {
    const auto at = [&](Index i) { return c.xyz[static_cast<std::size_t>(Offset{i} * c.dimension + d)]; };
    const double high = parallel_max(ctx, nodes, at(0), at);
    const double low = -parallel_max(ctx, nodes, -at(0), [&](Index i) { return -at(i); });
    middle[d] = 0.5 * (low + high);
    extent = std::max(extent, high - low);
  }
  if (extent > 0) scale = 2 / extent;
}

}  // namespace newel::detail
