// SPDX-License-Identifier: Apache-2.0
// A look at a matrix on the device, in the caller's arrays: a pass over them, and where nodes are entangled another.
#include <cmath>
#include <vector>

#include <newel/core/vector_ops.hpp>
#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/setup/node_blocks.hpp"
#include "precond/amg/smooth/smoothing_look.hpp"
#include "precond/amg/setup/tied_nodes.hpp"

namespace newel::detail {
namespace {

// What is counted.
struct LookCounts {
  unsigned entangled, tied, in_groups;  // nodes
};

// The Frobenius norm of each node's diagonal block, 0 where it has none; counts entangled nodes.
template <class T>
struct LookAtDiagonal {
  NodeBlocks<T> a;
  double* norm;
  LookCounts* counts;

  __device__ void operator()(const RowLanes& at) const {
    double own = 0, positive = 0, square = 0;
    for (Offset k = a.first(at.row) + at.lane; k < a.end(at.row); k += RowLanes::count) {
      if (!a.starts(at.row, k)) continue;
      const double value = a.trace(at.row, k);
      if (a.column(k) == at.row) {
        own += value;
        square += a.squared_norm(at.row, k);
      } else {
        positive += value > 0 ? value : 0;
      }
    }
    own = at.sum(own);
    positive = at.sum(positive);
    square = at.sum(square);
    if (at.lane > 0) return;
    norm[at.row] = sqrt(square);
    if (positive > most_positive * own) atomicAdd(&counts->entangled, 1u);
  }
};

// Counts tied nodes, and the nodes of their groups: they and their neighbours, each of which is marked once.
template <class T>
struct LookForGroups {
  NodeBlocks<T> a;
  const double* norm;
  double coupling;
  unsigned* marked;
  LookCounts* counts;

  __device__ void mark(Index node) const {
    if (atomicExch(marked + node, 1u) == 0) atomicAdd(&counts->in_groups, 1u);
  }
  __device__ void operator()(const RowLanes& at) const {
    double sum = 0;
    for (Offset k = a.first(at.row) + at.lane; k < a.end(at.row); k += RowLanes::count) {
      const double scale = norm[at.row] * norm[a.column(k)];
      if (a.column(k) != at.row && scale != 0 && a.starts(at.row, k)) sum += a.squared_norm(at.row, k) / scale;
    }
    if (!reaches(at.sum(sum), coupling)) return;
    if (at.lane == 0) atomicAdd(&counts->tied, 1u);
    for (Offset k = a.first(at.row) + at.lane; k < a.end(at.row); k += RowLanes::count) {
      if (a.column(k) == at.row || (a.starts(at.row, k) && a.squared_norm(at.row, k) > 0)) mark(a.column(k));
    }
  }
};

template <class T>
struct LookAtAsymmetry {
  NodeBlocks<T> a;
  Index rows;
  double *entries, *differences;

  __device__ void operator()(const RowLanes& at) const {
    const AsymmetrySums own = asymmetry_of_row(a, rows, at.row, a.begin(at.row) + at.lane, RowLanes::count);
    const double of_entries = at.sum(own.entries), of_differences = at.sum(own.differences);
    if (at.lane > 0) return;
    entries[at.row] = of_entries;
    differences[at.row] = of_differences;
  }
};

}  // namespace

template <class T>
SparseSmoothing expected_smoothing(const DeviceContext& ctx, const CsrView<T, Space::device>& a, int node_rows) {
  const int m = a.rows % node_rows == 0 ? node_rows : 1;
  const Index nodes = a.rows / m;
  const NodeBlocks<T> blocks(a, m);
  DeviceArray<double> norm(ctx, nodes);
  DeviceArray<LookCounts> counts = zeros<LookCounts>(ctx, 1);
  for_rows_by_lanes(ctx, nodes, LookAtDiagonal<T>{blocks, norm.data(), counts.data()});
  if (value_at(ctx, counts, 0).entangled < most_entangled * nodes) return {};
  for (const double coupling : tied_couplings(m)) {
    DeviceArray<unsigned> marked = zeros<unsigned>(ctx, nodes);
    counts = zeros<LookCounts>(ctx, 1);
    for_rows_by_lanes(ctx, nodes, LookForGroups<T>{blocks, norm.data(), coupling, marked.data(), counts.data()});
    const LookCounts found = value_at(ctx, counts, 0);
    if (found.tied == 0) break;
    if (few_are_tied(found.tied, nodes)) {
      return {true, operations_in_groups(a.rows, static_cast<Index>(found.in_groups))};
    }
  }
  return {true, 0};
}

template <class T>
double expected_antisymmetry(const DeviceContext& ctx, const CsrView<T, Space::device>& a, int node_rows) {
  DeviceArray<double> entries(ctx, a.rows), differences(ctx, a.rows);
  for_rows_by_lanes(ctx, a.rows, LookAtAsymmetry<T>{{a, node_rows}, a.rows, entries.data(), differences.data()});
  DeviceArray<double> sums(ctx, 2);
  sum(ctx, entries.cspan(), sums.data());
  sum(ctx, differences.cspan(), sums.data() + 1);
  const std::vector<double> of = to_vector(ctx, sums.cspan());
  return of[0] == 0 ? 0 : std::sqrt(of[1] / of[0]) / 2;
}

template double expected_antisymmetry(const DeviceContext&, const CsrView<double, Space::device>&, int);
template double expected_antisymmetry(const DeviceContext&, const CsrView<float, Space::device>&, int);
template SparseSmoothing expected_smoothing(const DeviceContext&, const CsrView<double, Space::device>&, int);
template SparseSmoothing expected_smoothing(const DeviceContext&, const CsrView<float, Space::device>&, int);

}  // namespace newel::detail
