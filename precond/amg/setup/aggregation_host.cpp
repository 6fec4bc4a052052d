// SPDX-License-Identifier: Apache-2.0
// Independent sets of distance 2, and the three rounds of aggregation around them.
#include "precond/amg/setup/aggregation.hpp"

#include <algorithm>
#include <cstdint>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"

namespace newel::detail {
namespace {

constexpr std::uint64_t in_set = NodeState::in_set, out_of_set = NodeState::out_of_set;

template <class F>
void for_graph_row(const HostBlockPattern& graph, Index i, F&& f) {
  for (Offset k = graph.row_ptr[i]; k < graph.row_ptr[i + 1]; ++k) f(graph.col[k]);
}

template <class Keep>
void keep_if(std::vector<Index>& list, Keep&& keep) {
  list.erase(std::remove_if(list.begin(), list.end(), [&](Index i) { return !keep(i); }), list.end());
}

// Rounds of the paper's Algorithm 1 with both of its worklists.
class IndependentSet {
 public:
  IndependentSet(const HostContext& ctx, const HostBlockPattern& graph, const std::vector<unsigned char>& eligible)
      : ctx_(ctx), graph_(graph), eligible_(eligible), state_(eligible.size(), out_of_set), least_(eligible.size()) {
    for (Index i = 0; i < graph.rows; ++i) {
      if (eligible[i]) undecided_.push_back(i);
    }
    watched_ = undecided_;
  }

  std::vector<Index> find() {
    for (std::uint64_t round = 0; !undecided_.empty(); ++round) {
      each(undecided_, [&](Index i) { state_[i] = NodeState::priority(round, i); });
      each(watched_, [&](Index i) { least_[i] = least_around(i); });
      each(undecided_, [&](Index i) { decide(i); });
      keep_if(undecided_, [&](Index i) { return state_[i] != in_set && state_[i] != out_of_set; });
      keep_if(watched_, [&](Index i) { return least_[i] != out_of_set; });
    }
    std::vector<Index> set;
    for (Index i = 0; i < graph_.rows; ++i) {
      if (state_[i] == in_set) set.push_back(i);
    }
    return set;
  }

 private:
  template <class F>
  void each(const std::vector<Index>& list, F&& f) {
    parallel_blocks(ctx_, static_cast<std::int64_t>(list.size()), 2048, [&](std::int64_t k) { f(list[k]); });
  }

  // The least state of a node and its neighbours; `out_of_set` where one of them is in the set.
  std::uint64_t least_around(Index i) const {
    std::uint64_t least = state_[i];
    for_graph_row(graph_, i, [&](Index j) {
      if (eligible_[j]) least = std::min(least, state_[j]);
    });
    return least == in_set ? out_of_set : least;
  }

  void decide(Index i) {
    bool out = least_[i] == out_of_set, in = least_[i] == state_[i];
    for_graph_row(graph_, i, [&](Index j) {
      if (!eligible_[j]) return;
      out = out || least_[j] == out_of_set;
      in = in && least_[j] == state_[i];
    });
    if (out || in) state_[i] = out ? out_of_set : in_set;
  }

  const HostContext& ctx_;
  const HostBlockPattern& graph_;
  const std::vector<unsigned char>& eligible_;
  std::vector<std::uint64_t> state_, least_;
  std::vector<Index> undecided_, watched_;
};

constexpr Index none = -1;

// An aggregate for each root, with the neighbours that are without one.
void take_neighbourhoods(const HostContext& ctx, const HostBlockPattern& graph, const std::vector<Index>& roots,
                         std::vector<unsigned char>& free, Aggregates<Space::host>& result) {
  const auto first = result.count;
  parallel_blocks(ctx, static_cast<Index>(roots.size()), 256, [&](Index k) {
    const auto take = [&](Index i) {
      if (!free[i]) return;
      free[i] = 0;
      result.of_node[i] = first + k;
    };
    take(roots[k]);
    for_graph_row(graph, roots[k], take);
  });
  result.count += static_cast<Index>(roots.size());
}

std::vector<Index> sizes_of(const Aggregates<Space::host>& aggregates) {
  std::vector<Index> size(static_cast<std::size_t>(aggregates.count), 0);
  for (const Index to : aggregates.of_node) {
    if (to != none) ++size[to];
  }
  return size;
}

// The aggregate with which node i has the most edges.
Index best_neighbour(const HostBlockPattern& graph, const Aggregates<Space::host>& aggregates,
                     const std::vector<Index>& size, Index i, std::vector<Index>& around) {
  around.clear();
  for_graph_row(graph, i, [&](Index j) {
    if (aggregates.of_node[j] != none) around.push_back(aggregates.of_node[j]);
  });
  std::sort(around.begin(), around.end());
  Index best = none;
  std::size_t most = 0;
  for (std::size_t k = 0, end = 0; k < around.size(); k = end) {
    while (end < around.size() && around[end] == around[k]) ++end;
    const bool better = end - k > most || (end - k == most && size[around[k]] < size[best]);
    if (!better) continue;
    best = around[k];
    most = end - k;
  }
  return best;
}

void join_remaining(const HostContext& ctx, const HostBlockPattern& graph, const std::vector<unsigned char>& free,
                    Aggregates<Space::host>& result) {
  const std::vector<Index> size = sizes_of(result);
  std::vector<Index> joined = result.of_node;
  PerThread<std::vector<Index>> scratch(ctx);
  parallel_blocks(ctx, graph.rows, 1024, [&](Index i, int member) {
    if (free[i]) joined[i] = best_neighbour(graph, result, size, i, scratch.of(member));
  });
  result.of_node = std::move(joined);
}

}  // namespace

std::vector<Index> independent_set(const HostContext& ctx, const HostBlockPattern& graph,
                                   const std::vector<unsigned char>& eligible) {
  return IndependentSet(ctx, graph, eligible).find();
}

Aggregates<Space::host> aggregate(const HostContext& ctx, const Strength<Space::host>& strength) {
  const HostBlockPattern& graph = strength.graph;
  Aggregates<Space::host> result;
  result.of_node.assign(static_cast<std::size_t>(graph.rows), none);
  std::vector<unsigned char> free(strength.left_out.size());
  for (std::size_t i = 0; i < free.size(); ++i) free[i] = strength.left_out[i] ? 0 : 1;
  take_neighbourhoods(ctx, graph, independent_set(ctx, graph, free), free, result);
  join_remaining(ctx, graph, free, result);

  if (result.count == 0) return result;
  const std::vector<Index> size = sizes_of(result);
  result.smallest = *std::min_element(size.begin(), size.end());
  result.largest = *std::max_element(size.begin(), size.end());
  double nodes = 0;
  for (const Index s : size) nodes += s;
  result.mean = nodes / result.count;
  return result;
}

}  // namespace newel::detail
