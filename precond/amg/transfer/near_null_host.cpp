// SPDX-License-Identifier: Apache-2.0
// Constants and rigid body modes on the host.
#include <newel/core/parallel.hpp>
#include "precond/amg/transfer/near_null.hpp"

namespace newel::detail {

NearNull<Space::host> constant_components(const HostContext& ctx, Index rows, int block) {
  NearNull<Space::host> result;
  result.vectors = block;
  result.values.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(block));
  parallel_for(ctx, rows,
               [&](Index i) { result.values[static_cast<std::size_t>(Offset{i} * block + i % block)] = 1; });
  return result;
}

NearNull<Space::host> rigid_body_modes(const HostContext& ctx, const NodeCoordinates& c) {
  const ModeFrame frame(ctx, c);
  NearNull<Space::host> result;
  result.vectors = c.dimension == 3 ? 6 : 3;
  result.values.resize(c.xyz.size() * static_cast<std::size_t>(result.vectors));
  const auto nodes = static_cast<Index>(c.xyz.size() / static_cast<std::size_t>(c.dimension));
  parallel_for(ctx, nodes, [&](Index i) {
    double x[3] = {0, 0, 0};
    const Offset first = Offset{i} * c.dimension;
    for (int d = 0; d < c.dimension; ++d) {
      x[d] = (c.xyz[static_cast<std::size_t>(first + d)] - frame.middle[d]) * frame.scale;
    }
    for (int d = 0; d < c.dimension; ++d) {
      mode_row(c.dimension, d, x, result.values.data() + (first + d) * result.vectors);
    }
  });
  return result;
}

NearNull<Space::host> given_vectors(const HostContext&, int count, const std::vector<double>& values) {
  return {count, values};
}

}  // namespace newel::detail
