// SPDX-License-Identifier: Apache-2.0
// Numberings of nodes on the host: the neighbours of each node of the sample, marked.
#include <vector>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/parallel.hpp>
#include "precond/amg/setup/node_numbering.hpp"
#include "reorder/permute_pattern.hpp"

namespace newel::detail {
namespace {

using HostPattern = Pattern<Space::host>;

class Sampler {
 public:
  Sampler(const HostPattern& a, const RowOrder<Space::host>& order)
      : a_(a), order_(order), met_by_(static_cast<std::size_t>(a.rows), -1) {}

  // Both numberings of all nodes of the sample.
  NodeSample of_nodes(int node_rows) {
    NodeSample sample;
    for_nodes(node_rows, [&](Index node, const NodeNumbering& by_component) {
      const Met found = met_by_rows(node, by_component);
      sample.entries += found.entries;
      sample.by_component += found.neighbours;
      sample.by_node += met_by_rows(node, {node_rows, 0}).neighbours;
      return true;
    });
    return sample;
  }

  // Rows numbered component by component, up to the first node whose rows differ: after it the whole sample cannot
  // show what all of its nodes have to.
  NodeSample while_rows_agree(int node_rows) {
    const auto block = static_cast<unsigned long long>(node_rows) * static_cast<unsigned long long>(node_rows);
    NodeSample sample;
    for_nodes(node_rows, [&](Index node, const NodeNumbering& by_component) {
      const Met found = met_by_rows(node, by_component);
      sample.entries += found.entries;
      sample.by_component += found.neighbours;
      return found.entries == block * found.neighbours;
    });
    return sample;
  }

 private:
  struct Met {
    unsigned long long entries = 0, neighbours = 0;
  };

  // f(node, numbering by component) for the sample, until it says no.
  template <class F>
  void for_nodes(int node_rows, F&& f) const {
    const Index nodes = a_.rows / node_rows;
    for (Index node = 0; node < nodes && f(node, NodeNumbering{node_rows, nodes}); node += sample_stride(nodes)) {
    }
  }

  Met met_by_rows(Index node, const NodeNumbering& numbering) {
    Met found;
    ++looked_;
    for (int component = 0; component < numbering.node_rows; ++component) {
      const Index callers = numbering.callers(node * numbering.node_rows + component);
      const Index row = order_.natural() ? callers : order_.new_of_old[callers];
      for (Offset k = a_.row_begin(row); k < a_.row_begin(row + 1); ++k) {
        const Index column = order_.natural() ? a_.col[k] : order_.old_of_new[a_.col[k]];
        Index& met = met_by_[static_cast<std::size_t>(numbering.hierarchys(column) / numbering.node_rows)];
        found.neighbours += met == looked_ ? 0 : 1;
        met = looked_;
        ++found.entries;
      }
    }
    return found;
  }

  const HostPattern& a_;
  const RowOrder<Space::host>& order_;
  std::vector<Index> met_by_;  // which look at a node met a node last
  Index looked_ = -1;
};

int node_rows_shown(const HostContext& ctx, const HostPattern& a, const RowOrder<Space::host>& order) {
  if (order.natural()) return static_cast<int>(node_block_size(ctx, a, largest_node));
  const PermutedPattern<Space::host> permuted =
      permute_pattern(ctx, a, order.new_of_old.cspan(), order.old_of_new.cspan());
  HostPattern callers;
  callers.rows = callers.cols = a.rows;
  callers.row_ptr64 = permuted.row_ptr.cspan();
  callers.col = permuted.col.cspan();
  return static_cast<int>(node_block_size(ctx, callers, largest_node));
}

}  // namespace

NodeNumbering find_numbering(const HostContext& ctx, const HostPattern& a, const RowOrder<Space::host>& order,
                             AmgNumbering asked, int node_rows) {
  if (const auto said = numbering_said(asked, node_rows, a.rows)) return *said;
  if (node_rows == 0 && asked != AmgNumbering::by_component) {
    const int shown = node_rows_shown(ctx, a, order);
    if (shown > 1 || asked == AmgNumbering::by_node) return {shown, 0};
  }
  NodeSample samples[largest_node + 1];
  Sampler sampler(a, order);
  for (int size = 2; size <= largest_node; ++size) {
    if (a.rows % size != 0) continue;
    if (node_rows == 0) samples[size] = sampler.while_rows_agree(size);
    if (node_rows == size) samples[size] = sampler.of_nodes(size);
  }
  return numbering_of_samples(samples, a.rows, asked, node_rows);
}

RowOrder<Space::host> order_from_nodes(const HostContext& ctx, const RowOrder<Space::host>& order,
                                       const NodeNumbering& numbering, Index rows) {
  RowOrder<Space::host> from;
  if (!numbering.by_component()) {
    from.old_of_new = make_array(ctx, order.old_of_new.cspan());
    from.new_of_old = make_array(ctx, order.new_of_old.cspan());
    return from;
  }
  from.old_of_new = Array<Index, Space::host>(ctx, rows);
  from.new_of_old = Array<Index, Space::host>(ctx, rows);
  parallel_for(ctx, rows, [&](Index i) {
    from.old_of_new[i] = numbering.hierarchys(order.natural() ? i : order.old_of_new[i]);
    const Index callers = numbering.callers(i);
    from.new_of_old[i] = order.natural() ? callers : order.new_of_old[callers];
  });
  return from;
}

}  // namespace newel::detail
