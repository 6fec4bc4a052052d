// SPDX-License-Identifier: Apache-2.0
/// Nested dissection, an order of elimination. Internal; in builds with METIS.
#pragma once

#include <vector>

#include <newel/core/types.hpp>

namespace newel::detail {

/// The new number of each vertex of an undirected graph: separators come after what they separate (George 1973;
/// Karypis and Kumar 1998). `begin` has the vertices' number plus 1, `neighbour` the neighbours of each vertex, both
/// ways and without the vertex itself. The same order for the same graph. Throws std::bad_alloc.
std::vector<Index> dissection_order(const std::vector<Index>& begin, const std::vector<Index>& neighbour);

}  // namespace newel::detail
