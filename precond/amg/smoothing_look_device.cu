// SPDX-License-Identifier: Apache-2.0
// A look at a matrix on the device, in the caller's arrays: a pass over them, and where nodes are entangled another.
#include <purlin/precond/amg/amg_smoother.hpp>
#include <purlin/precond/amg/elements_device.cuh>
#include <purlin/precond/amg/smoothing_look.hpp>
#include <purlin/precond/amg/tied_nodes.hpp>

namespace purlin::detail {
namespace {

// A matrix in CSR whose nodes have `m` rows each, as blocks of m x m: those in which the first row of a node has an
// entry. An entry of another row is looked for where it stands if all rows have the same columns.
template <class T>
struct NodeBlocks {
  EntriesView a;
  const T* val;
  int m;

  // f(block, column) for the blocks of a node's row, by the lanes.
  template <class F>
  __device__ void visit(const RowLanes& at, F&& f) const {
    const Offset first = a.begin(at.row * m), end = a.end(at.row * m);
    for (Offset k = first + at.lane; k < end; k += RowLanes::count) {
      const Index column = a.col[k] / m;
      if (k == first || a.col[k - 1] / m != column) f(Block{*this, at.row, column, k - first}, column);
    }
  }

  struct Block {
    const NodeBlocks& of;
    Index node, column;
    Offset place;  // of its first entry in the node's first row

    __device__ double entry(int r, int c) const {
      const EntriesView& a = of.a;
      const Index j = column * of.m + c;
      const Offset begin = a.begin(node * of.m + r), end = a.end(node * of.m + r);
      Offset k = begin + place + c;
      if (k >= end || a.col[k] != j) k = find_column(a.col, begin, end, j);
      return k < 0 ? 0.0 : static_cast<double>(of.val[k]);
    }
    __device__ double trace() const {
      double sum = 0;
      for (int r = 0; r < of.m; ++r) sum += entry(r, r);
      return sum;
    }
    __device__ double squared_norm() const {
      double sum = 0;
      for (int r = 0; r < of.m; ++r) {
        for (int c = 0; c < of.m; ++c) sum += entry(r, c) * entry(r, c);
      }
      return sum;
    }
  };
};

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
    a.visit(at, [&](const auto& block, Index column) {
      const double value = block.trace();
      if (column == at.row) {
        own += value;
        square += block.squared_norm();
      } else {
        positive += value > 0 ? value : 0;
      }
    });
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
  unsigned* marked;
  LookCounts* counts;

  __device__ void mark(Index node) const {
    if (atomicExch(marked + node, 1u) == 0) atomicAdd(&counts->in_groups, 1u);
  }
  __device__ void operator()(const RowLanes& at) const {
    double sum = 0;
    a.visit(at, [&](const auto& block, Index column) {
      const double scale = norm[at.row] * norm[column];
      if (column != at.row && scale != 0) sum += block.squared_norm() / scale;
    });
    if (!reaches(at.sum(sum), tied_coupling)) return;
    if (at.lane == 0) atomicAdd(&counts->tied, 1u);
    a.visit(at, [&](const auto& block, Index column) {
      if (column == at.row || block.squared_norm() > 0) mark(column);
    });
  }
};

}  // namespace

template <class T>
SparseSmoothing expected_smoothing(const DeviceContext& ctx, const CsrView<T, Space::device>& a, int node_rows) {
  const int m = a.rows % node_rows == 0 ? node_rows : 1;
  const Index nodes = a.rows / m;
  const NodeBlocks<T> blocks{EntriesView(Pattern<Space::device>(a)), a.val.data, m};
  DeviceArray<double> norm(ctx, nodes);
  DeviceArray<LookCounts> counts = zeros<LookCounts>(ctx, 1);
  for_rows_by_lanes(ctx, nodes, LookAtDiagonal<T>{blocks, norm.data(), counts.data()});
  if (value_at(ctx, counts, 0).entangled < most_entangled * nodes) return {};
  DeviceArray<unsigned> marked = zeros<unsigned>(ctx, nodes);
  for_rows_by_lanes(ctx, nodes, LookForGroups<T>{blocks, norm.data(), marked.data(), counts.data()});
  const LookCounts found = value_at(ctx, counts, 0);
  const Index in_groups = few_are_tied(found.tied, nodes) ? static_cast<Index>(found.in_groups) * m : 0;
  return {true, operations_in_groups(a.rows, in_groups)};
}

template SparseSmoothing expected_smoothing(const DeviceContext&, const CsrView<double, Space::device>&, int);
template SparseSmoothing expected_smoothing(const DeviceContext&, const CsrView<float, Space::device>&, int);

}  // namespace purlin::detail
