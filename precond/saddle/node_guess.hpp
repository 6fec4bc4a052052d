// SPDX-License-Identifier: Apache-2.0
/// How many rows a node has, where not every entry between nodes is stored. Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

/// 3 or 2 where that many consecutive rows look like the displacements of a node: most rows are coupled to other
/// components, and in a quarter of them the entries of each component add up to almost nothing, since a translation
/// makes no forces away from fixed boundaries. Else 0. The blocks of nodes need not be full: assemblies often drop
/// zeros.
template <class T>
int guessed_node_rows(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);

}  // namespace newel::detail
