// SPDX-License-Identifier: Apache-2.0
// The host's share of a partition on the device.
#include <algorithm>

#include <newel/core/parallel.hpp>
#include "reorder/partition_device.hpp"
#include "reorder/partitioners.hpp"

namespace newel::detail {
namespace {

template <class Value>
Array<Value, Space::host> downloaded(const Context<Space::device>& ctx, const Array<Value, Space::device>& from) {
  Array<Value, Space::host> to(host_context(ctx), from.size());
  copy<Value>(ctx, from.cspan(), to.span());
  return to;
}

}  // namespace

std::vector<Index> partition_coarsest(const Context<Space::device>& ctx, const DeviceGraph& g, Index parts,
                                      Index most_rows) {
  const Graph graph = {g.vertices, downloaded(ctx, g.begin), downloaded(ctx, g.neighbour),
                       downloaded(ctx, g.edge_weight), downloaded(ctx, g.vertex_weight)};
  return partition_by_levels(host_context(ctx), graph, parts, most_rows);
}

Array<Index, Space::device> points_on_curve(const Context<Space::device>& ctx, const NodeCoordinates& coordinates,
                                            Index points, Index parts) {
  return make_array(ctx, partition_by_curve(host_context(ctx), coordinates, points, parts));
}

std::vector<Index> rows_of_nodes(const Context<Space::host>& ctx, std::vector<Index> part_of_node, int block) {
  if (block == 1) return part_of_node;
  const auto nodes = static_cast<std::int64_t>(part_of_node.size());
  std::vector<Index> part_of_row(part_of_node.size() * static_cast<std::size_t>(block));
  parallel_for(ctx, nodes,
               [&](std::int64_t v) { std::fill_n(part_of_row.begin() + v * block, block, part_of_node[v]); });
  return part_of_row;
}

}  // namespace newel::detail
