// SPDX-License-Identifier: Apache-2.0
/// Better parts for a graph that has some: boundary vertices move to the part that they are tied to most. Internal.
#pragma once

#include <vector>

#include "reorder/graph.hpp"

namespace newel::detail {

/// Each pass looks, with all threads, for vertices that would cut less in another part, and then moves them one by
/// one, in their order, where that is still so. A move with nothing to win is made where it evens out the sizes. No
/// part grows above `most_rows` or loses its last vertex; the sum of cut edge weights never grows. The same for any
/// number of threads.
void refine(const Context<Space::host>& ctx, const Graph& graph, Index parts, Index most_rows, int passes,
            std::vector<Index>& part_of_vertex);

}  // namespace newel::detail
