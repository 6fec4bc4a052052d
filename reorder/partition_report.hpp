// SPDX-License-Identifier: Apache-2.0
/// How good parts are: cut, halo, sizes. Internal.
#pragma once

#include <newel/reorder/partition.hpp>

namespace newel::detail {

/// Entries whose row and column are in different parts.
Offset count_cut(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                 const std::vector<Index>& part_of_row);

/// Fills the report's parts, cut, halo and sizes from the partition's parts. O(nnz), and a bit per row and thread.
void measure(const Context<Space::host>& ctx, const Pattern<Space::host>& a, Partition& partition);

}  // namespace newel::detail
