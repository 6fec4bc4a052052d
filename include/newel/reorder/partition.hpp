// SPDX-License-Identifier: Apache-2.0
/// Divides the rows of a sparsity pattern into parts: one per thread block, thread cache or GPU.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel {

/// The partitioning method.
enum class Partitioner {
  automatic,    ///< `natural` if its ranges cut few entries, else `greedy`
  natural,      ///< contiguous ranges of equal length
  metis,        ///< METIS k-way on the coarsened graph of A + A^T, refined during uncoarsening
  coordinates,  ///< ranges of equal length along a Hilbert curve through the nodes
  greedy        ///< like metis, with breadth-first growth instead of METIS
};

/// "automatic", "natural", ...
std::string_view name_of(Partitioner method);
/// The inverse of `name_of`. Throws InputError, which lists the names.
Partitioner partitioner_named(std::string_view name);

/// Coordinates of the mesh nodes. Node i owns the rows b i .. b i + b - 1, where b = rows / points. For algebraic
/// multigrid they may also be i, i + points, ... (see AmgNumbering).
struct NodeCoordinates {
  std::vector<double> xyz;  ///< points x dimension, point after point
  int dimension = 3;        ///< 1, 2 or 3
};

/// The options of `make_partition`.
struct PartitionOptions {
  Partitioner method = Partitioner::automatic;  ///< how the parts are found
  Index parts = 1;                              ///< requested; see Partition::parts for when there are more or fewer
  Index most_part_rows = 0;                     ///< maximum number of rows per part; 0: no limit
  Index node_rows = 1;         ///< rows per node, if the pattern has such blocks (see node_block_size)
  int coarsen_rounds = 8;      ///< maximum rounds of heavy-edge matching; 0: METIS gets the full graph
  bool minimise_halo = false;  ///< METIS minimises the number of outside columns instead of cut entries
  const NodeCoordinates* coordinates = nullptr;  ///< for Partitioner::coordinates
};

/// How `make_partition` made the parts.
struct PartitionReport {
  std::string method;       ///< the method used, with the reason if it is not the requested one
  Index parts = 0;          ///< number of parts made
  Index vertices = 0;       ///< of the graph, after merging rows with identical patterns; 0 if no graph was made
  Offset cut = 0;           ///< entries whose row and column are in different parts
  Offset halo = 0;          ///< columns that a part reads from other parts, each counted once, summed over the parts
  Index largest_part = 0;   ///< rows
  Index smallest_part = 0;  ///< rows
  Index largest_halo = 0;   ///< of one part
  Index fullest_part = 0;   ///< maximum over the parts of rows plus columns read from other parts
  std::vector<std::pair<std::string, double>> seconds;  ///< by phase, in order
};

/// Which part each row belongs to.
struct Partition {
  std::vector<Index> part_of_row;  ///< 0 .. parts - 1; every part holds at least one row
  /// As requested, but at most the number of rows (of nodes if node_rows > 1). More parts are made if
  /// `most_part_rows` requires it: at least rows / most_part_rows, plus one for each piece that does not fit into
  /// another part.
  Index parts = 0;
  PartitionReport report;  ///< how it was made
};

/// Divides the rows of a square matrix into parts. Rows with identical patterns (the unknowns of a FEM node) stay in
/// one part under `metis` and `greedy`, as far as `most_part_rows` allows. The other methods keep `node_rows` rows,
/// or the rows of a given node, together.
///
/// The same input gives the same partition for any number of threads. METIS uses the random generator of the C
/// library. Its state is restored afterwards, but a thread that draws numbers at the same time shares the sequence.
/// Calls of METIS run one at a time. A build without METIS refuses `metis`. If METIS fails or cannot be used (more
/// than 2^31 neighbours even after coarsening, too few vertices for the parts), `greedy` is used instead, and the
/// report says so.
///
/// The pattern must be canonical; this is not checked. O(nnz). Throws InputError for a rectangular pattern, fewer
/// than one part, negative limits, and coordinates that are missing, not finite or do not fit the rows.
Partition make_partition(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                         const PartitionOptions& options);

/// The rows, ordered by part.
struct PartOrder {
  std::vector<Index> old_of_new;  ///< ascending within each part
  std::vector<Index> part_begin;  ///< parts + 1
};

/// Sorts the rows by part and keeps their order within each part: input for `make_row_order`. O(rows), parallel.
PartOrder order_by_parts(const Context<Space::host>& ctx, const Partition& partition);

namespace detail {

/// Throws InputError, which names the first node with a coordinate that is not finite.
void require_finite(const NodeCoordinates& coordinates);

}  // namespace detail

}  // namespace newel
