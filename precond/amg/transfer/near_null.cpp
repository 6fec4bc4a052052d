// SPDX-License-Identifier: Apache-2.0
// The frame that rigid body modes are written in.
#include "precond/amg/transfer/near_null.hpp"

#include <algorithm>
#include <limits>

#include <newel/core/parallel.hpp>
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

ModeFrame::ModeFrame(const HostContext& ctx, const NodeCoordinates& c) {
  const auto nodes = static_cast<Index>(c.xyz.size() / static_cast<std::size_t>(c.dimension));
  constexpr double none = -std::numeric_limits<double>::infinity();
  double extent = 0;
  for (int d = 0; d < c.dimension; ++d) {
    const auto at = [&](Index i) { return c.xyz[static_cast<std::size_t>(Offset{i} * c.dimension + d)]; };
    double most[] = {parallel_max(ctx, nodes, none, at),
                     parallel_max(ctx, nodes, none, [&](Index i) { return -at(i); })};
    max_over_ranks(ctx, most, 2);
    if (most[0] == none) return;
    const double high = most[0], low = -most[1];
    middle[d] = 0.5 * (low + high);
    extent = std::max(extent, high - low);
  }
  if (extent > 0) scale = 2 / extent;
}

}  // namespace newel::detail
