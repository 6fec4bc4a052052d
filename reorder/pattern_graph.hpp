// SPDX-License-Identifier: Apache-2.0
/// The graph of A + A^T without its diagonal, one vertex for all rows of a pattern. Internal.
#pragma once

#include "reorder/graph.hpp"
#include "reorder/row_classes.hpp"

namespace newel::detail {

struct PatternGraph {
  Graph graph;
  Array<Index, Space::host> vertex_of_row;
};

/// The graph of a square pattern. An edge weighs as many entries as A has between its two ends, in both directions;
/// a vertex, as many rows as it stands for (see find_row_classes). The transpose is formed only where A needs it.
/// O(nnz), parallel, the same for any number of threads.
PatternGraph make_pattern_graph(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                                Index most_rows_per_vertex, RowHash hash = hash_of_columns);

}  // namespace newel::detail
