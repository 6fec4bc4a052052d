// SPDX-License-Identifier: Apache-2.0
/// The first matrix of a hierarchy, node by node in the caller's numbering, and the way of values into it. Internal.
#pragma once

#include "precond/amg/setup/node_numbering.hpp"

namespace newel::detail {

template <Space S>
struct FirstLevel {
  BlockCsr<S> a;
  ValueMap<S> source;  ///< where its values stand among the caller's
  NodeNumbering numbering;
  RowOrder<S> order;  ///< from its rows to those of the solver
};

/// `a` was renumbered to `order`. `node_rows` unknowns belong to a node; 0: as many as the pattern shows, or on a
/// host the values (`guessed_node_rows`). `asked`: as in AmgOptions. Waits for the stream.
template <class T>
FirstLevel<Space::host> make_first_level(const HostContext& ctx, const CsrView<T, Space::host>& a,
                                         const RowOrder<Space::host>& order, AmgNumbering asked, int node_rows);
template <class T>
FirstLevel<Space::device> make_first_level(const DeviceContext& ctx, const CsrView<T, Space::device>& a,
                                           const RowOrder<Space::device>& order, AmgNumbering asked, int node_rows);

/// Rows whose diagonal entries have no finite inverse: the caller's number of the first, how many there are, and the
/// first one's entry.
struct RefusedDiagonals {
  Index first = 0, count = 0;
  double value = 0;
};
RefusedDiagonals refused_diagonals(const HostContext& ctx, const HostBlockCsr& a, const NodeNumbering& numbering);
RefusedDiagonals refused_diagonals(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                                   const NodeNumbering& numbering);

/// Throws ZeroDiagonal that names the caller's first row whose diagonal entry has no finite inverse.
template <Space S>
void require_diagonal(const Context<S>& ctx, const BlockCsr<S>& a, const NodeNumbering& numbering) {
  const RefusedDiagonals refused = refused_diagonals(ctx, a, numbering);
  if (refused.count > 0) throw ZeroDiagonal(refused.first, refused.count, refused.value);
}

}  // namespace newel::detail
