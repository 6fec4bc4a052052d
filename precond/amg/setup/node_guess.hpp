// SPDX-License-Identifier: Apache-2.0
/// How many rows a node has, where not every entry between nodes is stored. Internal.
#pragma once

#include <newel/core/csr.hpp>
#include <newel/reorder/row_order.hpp>

namespace newel::detail {

/// 3 or 2 where that many consecutive rows look like the displacements of a node: most rows are coupled to other
/// components, and in a quarter of them the entries of each component add up to almost nothing, since a translation
/// makes no forces away from fixed boundaries. Else 0. The blocks of nodes need not be full: assemblies often drop
/// zeros. Of a sample of at most 1,024 nodes. `order`: the caller's rows, if `a` was renumbered.
template <class T>
int guessed_node_rows(const CsrView<T, Space::host>& a, const RowOrder<Space::host>& order = {});

}  // namespace newel::detail
