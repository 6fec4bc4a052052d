// SPDX-License-Identifier: Apache-2.0
/// What make_partition chooses among. Internal.
#pragma once

#include <string>
#include <vector>

#include <newel/reorder/partition.hpp>
#include "reorder/coarsen.hpp"
#include "reorder/level_sizes.hpp"

namespace newel::detail {

struct MetisAnswer {
  std::string failure;  ///< empty: it worked
  std::vector<Index> part_of_vertex;
};

struct MetisPartitioner {
  Offset most_neighbours;  ///< the longest neighbour lists, together, that METIS can number
  /// METIS k-way, for 2 <= parts <= vertices. It aims at parts within 3 % of the mean, which it may miss; parts may
  /// come out empty. One call at a time in the whole process.
  MetisAnswer (*partition)(const Graph& graph, Index parts, bool minimise_halo);
};

/// In builds with METIS.
extern const MetisPartitioner metis_partitioner;

/// Grows one part after the other by breadth-first search from the edge of what is taken, each to an equal share of
/// what is left (C. Farhat, Comput. Struct. 28, 1988); each component's first part begins at one of its ends.
/// O(edges).
std::vector<Index> partition_by_growth(const Graph& graph, Index parts);

/// Growth, then refinement up to `most_rows` rows in a part.
std::vector<Index> grow_and_refine(const Context<Space::host>& ctx, const Graph& graph, Index parts, Index most_rows);

/// The part of each vertex's coarse vertex.
std::vector<Index> spread(const Context<Space::host>& ctx, const std::vector<Index>& coarse,
                          const Array<Index, Space::host>& coarse_of_fine);

/// Parts of the coarsest of `levels`, which were made from `graph`, become parts of `graph`, refined on every level.
void spread_and_refine(const Context<Space::host>& ctx, const Graph& graph, const std::vector<CoarseLevel>& levels,
                       Index parts, Index most_rows, std::vector<Index>& part);

/// Coarser graphs, growth on the smallest, refinement on all of them. `vertices_per_part` parts fit into an Index.
std::vector<Index> partition_by_levels(const Context<Space::host>& ctx, const Graph& graph, Index parts,
                                       Index most_rows);

/// Rows that each given point has. Throws InputError where there are no coordinates, or none that fit the rows.
Index rows_of_point(const NodeCoordinates* coordinates, Index rows);

/// Part of each row: ranges of equal length of the nodes along a Hilbert curve.
std::vector<Index> partition_by_curve(const Context<Space::host>& ctx, const NodeCoordinates& coordinates, Index rows,
                                      Index parts);

/// Part of item i of n in equal contiguous ranges.
inline Index part_of_position(Index i, Index n, Index parts) { return static_cast<Index>(Offset{i} * parts / n); }

}  // namespace newel::detail
