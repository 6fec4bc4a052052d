// SPDX-License-Identifier: Apache-2.0
/// From a sparsity pattern to parts: which rows a thread block, a thread's cache or a GPU holds.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel {

/// How the parts are found.
enum class Partitioner {
  automatic,    ///< natural where its ranges cut few entries, else greedy
  natural,      ///< contiguous ranges of equal length
  metis,        ///< METIS k-way on the coarsened graph of A + A^T, refined on the way back
  coordinates,  ///< ranges of equal length along a Hilbert curve through the nodes
  greedy        ///< the same as metis with breadth-first growth in place of METIS
};

/// "automatic", "natural", ...
std::string_view name_of(Partitioner method);
/// The inverse. Throws InputError that lists the names.
Partitioner partitioner_named(std::string_view name);

/// Where the nodes of a mesh lie. Node i has the rows b i .. b i + b - 1, b = rows / points; for algebraic multigrid
/// they may also be i, i + points, ... (see AmgNumbering).
struct NodeCoordinates {
  std::vector<double> xyz;  ///< points x dimension, a point after the other
  int dimension = 3;        ///< 1, 2 or 3
};

/// The options of `make_partition`.
struct PartitionOptions {
  Partitioner method = Partitioner::automatic;  ///< how the parts are found
  Index parts = 1;                              ///< wanted; see Partition::parts for when there are more or fewer
  Index most_part_rows = 0;                     ///< no part holds more rows; 0: no limit
  Index node_rows = 1;         ///< unknowns per node where the pattern has such blocks (see node_block_size)
  int coarsen_rounds = 8;      ///< of heavy-edge matching, at most; 0: METIS sees the full graph
  bool minimise_halo = false;  ///< METIS counts outside columns instead of cut entries
  const NodeCoordinates* coordinates = nullptr;  ///< for Partitioner::coordinates
};

/// What `make_partition` did.
struct PartitionReport {
  std::string method;       ///< what was done, with the reason where it is not what was requested
  Index parts = 0;          ///< that were made
  Index vertices = 0;       ///< of the graph, after rows of identical pattern were merged; 0 where none was made
  Offset cut = 0;           ///< entries whose row and column are in different parts
  Offset halo = 0;          ///< columns that a part reads from outside, each once, summed over the parts
  Index largest_part = 0;   ///< rows
  Index smallest_part = 0;  ///< rows
  Index largest_halo = 0;   ///< of one part
  Index fullest_part = 0;   ///< rows of a part and columns that it reads from outside, the most of any part
  std::vector<std::pair<std::string, double>> seconds;  ///< by phase, in their order
};

/// Which part each row belongs to.
struct Partition {
  std::vector<Index> part_of_row;  ///< 0 .. parts - 1; every part holds at least one row
  /// As wanted, but never more than there are rows (nodes, where node_rows > 1), and more where `most_part_rows` asks
  /// for it: at least rows / most_part_rows, and one more for each piece that found no room in another part.
  Index parts = 0;
  PartitionReport report;  ///< how it was made
};

/// Cuts the rows of a square matrix into parts. Rows of identical pattern (the unknowns of a FEM node) stay in one
/// part under `metis` and `greedy`, as far as `most_part_rows` allows; the other methods keep `node_rows`, or the
/// rows of a given node, together.
///
/// The same input gives the same partition, whatever the number of threads. METIS draws from the C library's
/// generator: its state is put back afterwards, but a thread that draws at the same moment shares its sequence.
/// Calls of METIS wait for each other; a build without METIS refuses it. Where METIS cannot be used (more than 2^31
/// neighbours even when coarsened, too few vertices for the parts) or fails, `greedy` takes over and the report says
/// so.
///
/// The pattern must be canonical; that is not checked. O(nnz). Throws InputError for a rectangular pattern, fewer
/// than one part, negative limits, and coordinates that are missing, not finite or do not fit the rows.
Partition make_partition(const Context<Space::host>& ctx, const Pattern<Space::host>& a,
                         const PartitionOptions& options);

/// The rows part by part.
struct PartOrder {
  std::vector<Index> old_of_new;  ///< ascending within each part
  std::vector<Index> part_begin;  ///< parts + 1
};

/// Sorts the rows by their part and keeps their order within it: what `make_row_order` takes. O(rows), parallel.
PartOrder order_by_parts(const Context<Space::host>& ctx, const Partition& partition);

namespace detail {

/// Throws InputError that names the first node with a coordinate that is not finite.
void require_finite(const NodeCoordinates& coordinates);

}  // namespace detail

}  // namespace newel
