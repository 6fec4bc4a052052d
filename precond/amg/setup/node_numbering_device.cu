// SPDX-License-Identifier: Apache-2.0
// Numberings of nodes on the device: a warp looks at a node of the sample.
#include <algorithm>

#include "precond/amg/blocks/block_csr_device.hpp"
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/setup/node_numbering.hpp"

namespace newel::detail {
namespace {

constexpr int lanes = 32;

// A lane has every 32nd entry of each row of a node, and counts a neighbour at the first entry that leads there.
struct CountNeighbours {
  EntriesView a;
  NodeNumbering by_component, by_node;
  Index stride;
  NodeSample* sample;

  // Whether a row that numbers component by component has an entry of the node at `at` in its first `components`.
  __device__ bool meets(Index row, Index at, int components) const {
    for (int c = 0; c < components; ++c) {
      const Index column = by_component.callers(at * by_component.node_rows + c);
      if (find_column(a.col, a.begin(row), a.end(row), column) >= 0) return true;
    }
    return false;
  }

  __device__ bool first_by_component(Index node, int component, Offset k) const {
    const Index place = by_component.hierarchys(a.col[k]), at = place / by_component.node_rows;
    for (int earlier = 0; earlier <= component; ++earlier) {
      const Index row = by_component.callers(node * by_component.node_rows + earlier);
      const int components = earlier < component ? by_component.node_rows : place % by_component.node_rows;
      if (meets(row, at, components)) return false;
    }
    return true;
  }

  // Whether a row that numbers node by node has an entry of the node at `at`.
  __device__ bool reaches(Index row, Index at) const {
    const Index first = at * by_node.node_rows;
    const Offset end = a.end(row), place = first_column_from(a.col, a.begin(row), end, first);
    return place < end && a.col[place] < first + by_node.node_rows;
  }

  __device__ bool first_by_node(Index node, int component, Offset k) const {
    const Index row = node * by_node.node_rows + component, at = a.col[k] / by_node.node_rows;
    if (k > a.begin(row) && a.col[k - 1] / by_node.node_rows == at) return false;
    for (int earlier = 0; earlier < component; ++earlier) {
      if (reaches(row - component + earlier, at)) return false;
    }
    return true;
  }

  __device__ void operator()(std::int64_t i) const {
    const auto node = static_cast<Index>(i / lanes) * stride;
    const auto lane = static_cast<int>(i % lanes);
    NodeSample own;
    for (int component = 0; component < by_node.node_rows; ++component) {
      const Index place = node * by_node.node_rows + component, row = by_component.callers(place);
      for (Offset k = a.begin(row) + lane; k < a.end(row); k += lanes) {
        ++own.entries;
        own.by_component += first_by_component(node, component, k) ? 1 : 0;
      }
      for (Offset k = a.begin(place) + lane; k < a.end(place); k += lanes) {
        own.by_node += first_by_node(node, component, k) ? 1 : 0;
      }
    }
    if (own.entries > 0) atomicAdd(&sample->entries, own.entries);
    if (own.by_component > 0) atomicAdd(&sample->by_component, own.by_component);
    if (own.by_node > 0) atomicAdd(&sample->by_node, own.by_node);
  }
};

struct FromNodes {
  NodeNumbering numbering;
  const Index *old_of_new, *new_of_old;  // null: the natural order
  Index *from_old, *from_new;

  __device__ void operator()(std::int64_t at) const {
    const auto i = static_cast<Index>(at);
    from_old[i] = numbering.hierarchys(old_of_new == nullptr ? i : old_of_new[i]);
    const Index callers = numbering.callers(i);
    from_new[i] = new_of_old == nullptr ? callers : new_of_old[callers];
  }
};

}  // namespace

NodeNumbering find_numbering(const DeviceContext& ctx, const Pattern<Space::device>& a, AmgNumbering asked,
                             int node_rows) {
  if (const auto said = numbering_said(asked, node_rows, a.rows)) return *said;
  if (node_rows == 0 && asked != AmgNumbering::by_component) {
    const int shown = full_block_on_device(ctx, a, largest_node);
    if (shown > 1 || asked == AmgNumbering::by_node) return {shown, 0};
  }
  DeviceArray<NodeSample> samples = zeros<NodeSample>(ctx, largest_node + 1);
  for (int size = 2; size <= largest_node; ++size) {
    if (a.rows % size != 0 || (node_rows != 0 && node_rows != size)) continue;
    const Index nodes = a.rows / size, stride = sample_stride(nodes);
    const std::int64_t sampled = (std::int64_t{nodes} + stride - 1) / stride;
    for_elements(ctx, sampled * lanes,
                 CountNeighbours{EntriesView(a), {size, nodes}, {size, 0}, stride, samples.data() + size});
  }
  const std::vector<NodeSample> on_host = to_vector(ctx, samples.cspan());
  NodeSample found[largest_node + 1];
  std::copy(on_host.begin(), on_host.end(), found);
  return numbering_of_samples(found, a.rows, asked, node_rows);
}

RowOrder<Space::device> order_from_nodes(const DeviceContext& ctx, const RowOrder<Space::device>& order,
                                         const NodeNumbering& numbering, Index rows) {
  RowOrder<Space::device> from;
  if (!numbering.by_component()) {
    from.old_of_new = make_array(ctx, order.old_of_new.cspan());
    from.new_of_old = make_array(ctx, order.new_of_old.cspan());
    return from;
  }
  from.old_of_new = DeviceArray<Index>(ctx, rows);
  from.new_of_old = DeviceArray<Index>(ctx, rows);
  for_elements(ctx, rows,
               FromNodes{numbering, order.old_of_new.data(), order.new_of_old.data(), from.old_of_new.data(),
                         from.new_of_old.data()});
  return from;
}

}  // namespace newel::detail
