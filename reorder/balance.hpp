// SPDX-License-Identifier: Apache-2.0
/// Hard limits on parts that a partitioner left too large or empty. Internal.
#pragma once

#include <vector>

#include "reorder/graph.hpp"

namespace newel::detail {

/// Whether none of the parts, whose rows are given, is empty or larger.
bool keeps_limits(const std::vector<Index>& rows_of_parts, Index most_rows);

/// Afterwards no part holds more than `most_rows` rows (no vertex may weigh more), and none is empty: there must be
/// at least as many vertices as parts. Vertices of an oversized part move to parts around it that have room, those
/// that cut least first; isolated ones, to any. What is left over is cut off in pieces, which go to a part with room
/// or become parts of their own: returns the number of parts. An empty part takes half of the largest.
Index enforce_limits(const Context<Space::host>& ctx, const Graph& graph, Index parts, Index most_rows,
                     std::vector<Index>& part_of_vertex);

}  // namespace newel::detail
