// SPDX-License-Identifier: Apache-2.0
// Level by level, and for the inverse of the last matrix.
#include "precond/amg/cycle/single_rounding.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

std::vector<double> on_host(const HostContext&, const std::vector<double>& values) { return values; }
[[maybe_unused]] std::vector<double> on_host(const Context<Space::device>& ctx,
                                             const Array<double, Space::device>& values) {
  return to_vector(ctx, values.cspan());
}

// Of the vectors that the last matrix knows, which reach over several of its nodes: with E a diagonal of random
// signs, |A^-1/2 E A^-1/2| in the Frobenius norm. Vectors of length 0, and null vectors, have no part in it.
double of_inverse(const std::vector<double>& diagonal, int block, const std::vector<double>& largest,
                  const std::vector<double>& nodes) {
  double sum = 0;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const std::size_t node = i / static_cast<std::size_t>(block);
    if (!(nodes[node] > 0)) continue;
    const double part = largest[node] / std::sqrt(nodes[node]) * diagonal[i];
    sum += part * part;
  }
  return std::sqrt(sum);
}

// `scale` is of the first level's nodes; levels from `first` on count.
template <Space S>
double rounding_from(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, FineScale<S> scale, std::size_t first) {
  const std::vector<AmgLevel<S>>& levels = hierarchy.levels();
  double most = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const AmgLevel<S>& level = levels[l];
    if (l >= first) most = std::max(most, largest_rounding(ctx, level.a, scale));
    if (!level.last()) scale = coarse_scale(ctx, level.aggregates, scale);
  }
  if (hierarchy.inverse().size() == 0) return most;
  const BlockCsr<S>& a = levels.back().a;
  const std::vector<double> diagonal = inverse_diagonal(ctx, hierarchy.inverse(), a.scalar_rows());
  return std::max(most, of_inverse(diagonal, a.row_block, on_host(ctx, scale.largest), on_host(ctx, scale.nodes)));
}

}  // namespace

template <Space S>
double rounding_of_soft_vectors(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy) {
  return rounding_from(ctx, hierarchy, fine_scale(ctx, hierarchy.levels().front().a), 1);
}

template <Space S>
double rounding_of_soft_vectors(const Context<S>& ctx, const AmgHierarchy<S>& hierarchy, FineScale<S> scale) {
  return rounding_from(ctx, hierarchy, std::move(scale), 0);
}

#define X(S)                                                                           \
  template double rounding_of_soft_vectors(const Context<S>&, const AmgHierarchy<S>&); \
  template double rounding_of_soft_vectors(const Context<S>&, const AmgHierarchy<S>&, FineScale<S>);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
