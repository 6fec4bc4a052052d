// SPDX-License-Identifier: Apache-2.0
/// NodeNumbering: which rows of a matrix are the unknowns of one node. Internal.
#pragma once

#include <optional>

#include <newel/precond/amg/amg_options.hpp>
#include <newel/reorder/row_order.hpp>
#include "core/vectors/host_device.hpp"
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

/// A hierarchy has its rows node by node (x y z, x y z, ...); the caller has them so too, or component by component
/// (x x ..., y y ..., z z ...).
struct NodeNumbering {
  int node_rows = 1;  ///< unknowns of a node
  Index nodes = 0;    ///< of a caller who numbers component by component; 0: node by node

  bool by_component() const { return nodes > 0; }
  /// The caller's row that is `row` of the hierarchy.
  NEWEL_HD Index callers(Index row) const { return nodes == 0 ? row : row % node_rows * nodes + row / node_rows; }
  /// The way back.
  NEWEL_HD Index hierarchys(Index row) const { return nodes == 0 ? row : row % nodes * node_rows + row / nodes; }
};

inline constexpr int largest_node = 6;

/// Of a square matrix whose nodes have `node_rows` unknowns, 0: as many as the pattern shows. `asked` as in
/// AmgOptions; automatic: of a sample of nodes, the numbering in which they have fewer neighbours. Without
/// `node_rows` rows are numbered component by component where those of a node have one pattern in all of the sample,
/// and consecutive rows form no blocks. On the host `a` was renumbered to `order`, on the device it is in the
/// caller's order, and the stream is waited for.
NodeNumbering find_numbering(const HostContext& ctx, const Pattern<Space::host>& a,
                             const RowOrder<Space::host>& order, AmgNumbering asked, int node_rows);
NodeNumbering find_numbering(const DeviceContext& ctx, const Pattern<Space::device>& a, AmgNumbering asked,
                             int node_rows);

/// From the hierarchy's numbering to that of `order`: `order` itself, as a copy, where the caller numbers node by
/// node. For `rows` rows.
RowOrder<Space::host> order_from_nodes(const HostContext& ctx, const RowOrder<Space::host>& order,
                                       const NodeNumbering& numbering, Index rows);
RowOrder<Space::device> order_from_nodes(const DeviceContext& ctx, const RowOrder<Space::device>& order,
                                         const NodeNumbering& numbering, Index rows);

/// What a sample of nodes shows of both numberings.
struct NodeSample {
  unsigned long long entries = 0;       ///< of the rows of nodes that are numbered component by component
  unsigned long long by_component = 0;  ///< their neighbours
  unsigned long long by_node = 0;       ///< neighbours of nodes that are numbered node by node
};
/// The sample is every so many-th of the nodes.
Index sample_stride(Index nodes);
/// The numbering where nobody has to look for it.
std::optional<NodeNumbering> numbering_said(AmgNumbering asked, int node_rows, Index rows);
/// The numbering that samples show, one for each size of a node, 0 to `largest_node`; those of sizes that do not
/// divide `rows`, or are not `node_rows`, are empty. Throws InputError where they have to show one that is asked for
/// and do not.
NodeNumbering numbering_of_samples(const NodeSample (&samples)[largest_node + 1], Index rows, AmgNumbering asked,
                                   int node_rows);

}  // namespace newel::detail
