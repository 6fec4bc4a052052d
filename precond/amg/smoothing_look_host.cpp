// SPDX-License-Identifier: Apache-2.0
// A look at a matrix on the host: as the setup of AMG looks at it.
#include <purlin/precond/amg/smoothing_look.hpp>

#include <purlin/precond/amg/amg_smoother.hpp>
#include <purlin/precond/amg/tied_nodes.hpp>

namespace purlin::detail {

double operations_in_groups(Index rows, Index in_groups) {
  if (in_groups == 0) return 0;
  const double reached = reached_rows(rows, in_groups);
  return reached * reached * reached / 3 * in_groups;
}

template <class T>
SparseSmoothing expected_smoothing(const HostContext& ctx, const CsrView<T, Space::host>& a, int node_rows) {
  Array<Offset, Space::host> source;
  const HostBlockCsr first = make_block_csr(ctx, a, {}, a.rows % node_rows == 0 ? node_rows : 1, source);
  if (entangled_share(ctx, first) < most_entangled) return {};
  return {true, operations_in_groups(a.rows, nodes_in_groups(ctx, first) * first.row_block)};
}

template SparseSmoothing expected_smoothing(const HostContext&, const CsrView<double, Space::host>&, int);
template SparseSmoothing expected_smoothing(const HostContext&, const CsrView<float, Space::host>&, int);

}  // namespace purlin::detail
