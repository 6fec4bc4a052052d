// SPDX-License-Identifier: Apache-2.0
// A look at a matrix on the host.
#include "precond/amg/smooth/smoothing_look.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <newel/core/parallel.hpp>
#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/setup/node_blocks.hpp"
#include "precond/amg/setup/tied_nodes.hpp"

namespace newel::detail {
namespace {

// Beyond, nodes are entangled by elements of higher order, not by flat ones: 0.1 to 0.19 of them on 16 meshes, where
// Chebyshev's polynomial sufficed on 14; at most 0.012 with linear elements on 18 meshes, some of them bad.
constexpr double most_of_flat = 0.05;

}  // namespace

double operations_in_groups(Index rows, Index members) {
  if (members == 0) return 0;
  const double reached = reached_rows(rows, members);
  return reached * reached * reached / 3 * members;
}

template <class T>
SparseSmoothing expected_smoothing(const HostContext& ctx, const CsrView<T, Space::host>& a, int node_rows) {
  const int m = a.rows % node_rows == 0 ? node_rows : 1;
  const Index nodes = a.rows / m;
  const NodeBlocks<T> blocks(a, m);
  std::vector<double> norm(static_cast<std::size_t>(nodes));
  const Index entangled = parallel_count<Index>(ctx, nodes, [&](Index i) {
    double own = 0, positive = 0, square = 0;
    for (Offset k = blocks.first(i); k < blocks.end(i); ++k) {
      if (!blocks.starts(i, k)) continue;
      const double value = blocks.trace(i, k);
      const bool diagonal = blocks.column(k) == i;
      own += diagonal ? value : 0;
      positive += diagonal ? 0 : std::max(0.0, value);
      if (diagonal) square = blocks.squared_norm(i, k);
    }
    norm[i] = std::sqrt(square);
    return positive > most_positive * own;
  });
  if (entangled < most_entangled * nodes || entangled > most_of_flat * nodes) return {};
  std::vector<double> coupling(norm.size());
  parallel_blocks(ctx, nodes, 512, [&](Index i) {
    double sum = 0;
    for (Offset k = blocks.first(i); k < blocks.end(i); ++k) {
      const double scale = norm[i] * norm[blocks.column(k)];
      if (blocks.column(k) != i && scale != 0 && blocks.starts(i, k)) sum += blocks.squared_norm(i, k) / scale;
    }
    coupling[i] = sum;
  });
  for (const double least : tied_couplings(m)) {
    const auto tied = [&](Index i) { return reaches(coupling[i], least); };
    if (!few_are_tied(parallel_count<Offset>(ctx, nodes, tied), nodes)) continue;
    std::vector<unsigned char> in_group(norm.size());
    for (Index i = 0; i < nodes; ++i) {
      if (!tied(i)) continue;
      for (Offset k = blocks.first(i); k < blocks.end(i); ++k) {
        const Index j = blocks.column(k);
        if (j == i || (blocks.starts(i, k) && blocks.squared_norm(i, k) > 0)) in_group[j] = 1;
      }
    }
    const auto members = static_cast<Index>(std::count(in_group.begin(), in_group.end(), 1));
    return {true, operations_in_groups(a.rows, members)};
  }
  return {true, 0};
}

template <class T>
double expected_antisymmetry(const HostContext& ctx, const CsrView<T, Space::host>& a, int node_rows) {
  constexpr Index most_rows = 16384;
  const NodeBlocks<T> blocks(a, node_rows);
  const Index apart = (a.rows - 1) / most_rows + 1, looked_at = a.rows > 0 ? (a.rows - 1) / apart + 1 : 0;
  std::vector<AsymmetrySums> of_row(static_cast<std::size_t>(looked_at));
  parallel_blocks(ctx, looked_at, 512, [&](Index i) {
    of_row[static_cast<std::size_t>(i)] = asymmetry_of_row(blocks, a.rows, i * apart, blocks.begin(i * apart), 1);
  });
  AsymmetrySums sums;
  for (const AsymmetrySums& row : of_row) {
    sums.entries += row.entries;
    sums.differences += row.differences;
  }
  return sums.entries == 0 ? 0 : std::sqrt(sums.differences / sums.entries) / 2;
}

template double expected_antisymmetry(const HostContext&, const CsrView<double, Space::host>&, int);
template double expected_antisymmetry(const HostContext&, const CsrView<float, Space::host>&, int);
template SparseSmoothing expected_smoothing(const HostContext&, const CsrView<double, Space::host>&, int);
template SparseSmoothing expected_smoothing(const HostContext&, const CsrView<float, Space::host>&, int);

}  // namespace newel::detail
