// SPDX-License-Identifier: Apache-2.0
/// How many rows a node has, where not every entry between nodes is stored. Internal.
#pragma once

#include "precond/saddle/saddle_blocks.hpp"

namespace newel::detail {

/// 3 or 2 where consecutive rows, so many at a time, are coupled to each other, and in nine tenths of these groups
/// each row reaches most of the groups that the others reach: displacements, node by node, in three or two
/// dimensions. Else 0. Assemblies often drop entries that are zero, so that the blocks of nodes are not full.
int guessed_node_rows(const Context<Space::host>& ctx, const SaddlePattern& a);

}  // namespace newel::detail
