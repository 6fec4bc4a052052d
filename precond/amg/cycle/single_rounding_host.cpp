// SPDX-License-Identifier: Apache-2.0
// Scales of aggregates on the host.
#include <algorithm>
#include <cmath>

#include <newel/core/parallel.hpp>
#include "precond/amg/cycle/single_rounding.hpp"
#include "precond/amg/setup/strength.hpp"

namespace newel::detail {

FineScale<Space::host> fine_scale(const HostContext& ctx, const HostBlockCsr& a) {
  return {diagonal_norms(ctx, a), std::vector<double>(static_cast<std::size_t>(a.pattern.rows), 1.0)};
}

FineScale<Space::host> coarse_scale(const HostContext&, const Aggregates<Space::host>& aggregates,
                                    const FineScale<Space::host>& scale) {
  const auto count = static_cast<std::size_t>(aggregates.count);
  FineScale<Space::host> coarse{std::vector<double>(count, 0.0), std::vector<double>(count, 0.0)};
  for (std::size_t i = 0; i < aggregates.of_node.size(); ++i) {
    if (aggregates.of_node[i] < 0) continue;
    const auto c = static_cast<std::size_t>(aggregates.of_node[i]);
    coarse.largest[c] = std::max(coarse.largest[c], scale.largest[i]);
    coarse.nodes[c] += scale.nodes[i];
  }
  return coarse;
}

double largest_rounding(const HostContext& ctx, const HostBlockCsr& a, const FineScale<Space::host>& scale) {
  return parallel_max(ctx, a.pattern.rows, 0.0, [&](Index i) {
    const Offset at = diagonal_at(a.pattern, i);
    const auto c = static_cast<std::size_t>(i);
    if (at < 0 || !(scale.nodes[c] > 0)) return 0.0;
    const double rounding = scale.largest[c] / std::sqrt(scale.nodes[c]);
    double most = 0;
    for (int r = 0; r < a.row_block; ++r) {
      const double energy = a.block(at)[r * a.row_block + r];
      if (energy > least_energy * scale.largest[c]) most = std::max(most, rounding / energy);
    }
    return most;
  });
}

std::vector<double> inverse_diagonal(const HostContext&, const std::vector<double>& inverse, Index rows) {
  std::vector<double> diagonal(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = inverse[i * diagonal.size() + i];
  return diagonal;
}

}  // namespace newel::detail
