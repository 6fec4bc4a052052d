// SPDX-License-Identifier: Apache-2.0
/// Parts of a pattern that lies on the device, found there but for the last few vertices. Internal.
#pragma once

#include <functional>
#include <optional>

#include <newel/reorder/partition.hpp>

namespace newel::detail {

class SmallResults;

/// A coarse graph on the device, as Graph is one on the host.
struct DeviceGraph {
  Index vertices = 0;
  Array<Offset, Space::device> begin;
  Array<Index, Space::device> neighbour, edge_weight, vertex_weight;
};

/// The parts of a graph that is small enough for the host, by partition_by_levels. Waits for the stream.
std::vector<Index> partition_coarsest(const Context<Space::device>& ctx, const DeviceGraph& g, Index parts,
                                      Index most_rows);

/// The parts of points along a curve, as make_partition has them. Uploaded; the host does the rest.
Array<Index, Space::device> points_on_curve(const Context<Space::device>& ctx, const NodeCoordinates& coordinates,
                                            Index points, Index parts);

/// The part of each row of nodes of `block` rows.
std::vector<Index> rows_of_nodes(const Context<Space::host>& ctx, std::vector<Index> part_of_node, int block);

/// 6, 3, 2 or 1: the largest of them of which the pattern consists of full aligned blocks. Waits for the stream.
int node_block_on_device(const Context<Space::device>& ctx, const Pattern<Space::device>& a);
/// The same without its wait: what is returned gives it once `results` have been fetched.
std::function<int()> start_node_block(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                                      SmallResults& results);

/// `automatic` or `greedy` for a pattern of full blocks of `options.node_rows`: aggregates of nodes until few are
/// left, growth and refinement of these on the host, refinement on the way back. The method, though not its parts, is
/// that of make_partition; the same input gives the same parts. `coordinates` of such nodes: the host's own parts,
/// for which the pattern need not leave the device.
///
/// Nothing where the host has to do it: another method, few nodes, a pattern that is not symmetric or has nodes with
/// very many neighbours, a limit of rows that is not kept. Waits for the stream. Throws InputError for coordinates
/// that do not fit the rows.
std::optional<Partition> make_partition_on_device(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                                                  const PartitionOptions& options);

/// Entries of the first row of each node of `block` rows, on the host. Waits for the stream.
std::vector<Index> node_row_lengths(const Context<Space::device>& ctx, const Pattern<Space::device>& a, int block);

/// The inverse of a permutation, which is not checked. Nothing is waited for.
Array<Index, Space::device> inverse_order(const Context<Space::device>& ctx,
                                          Span<const Index, Space::device> old_of_new);

}  // namespace newel::detail
