// SPDX-License-Identifier: Apache-2.0
// Aggregates on the device: a thread has a node in each pass of a round. The set depends on priorities alone, so that
// it is the host's.
#include "precond/amg/setup/aggregation.hpp"
#include "precond/amg/blocks/elements_device.cuh"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

constexpr Index none = -1;
constexpr std::uint64_t undecided = 1;  // before the first round
constexpr int rounds_at_once = 3;       // between looks at whether any node is undecided

struct FirstState {
  const unsigned char* left_out;
  std::uint64_t* state;

  __device__ void operator()(std::int64_t i) const { state[i] = left_out[i] ? NodeState::out_of_set : undecided; }
};

__device__ bool is_undecided(std::uint64_t state) {
  return state != NodeState::in_set && state != NodeState::out_of_set;
}

struct DrawPriorities {
  std::uint64_t round;
  std::uint64_t* state;

  __device__ void operator()(std::int64_t i) const {
    if (is_undecided(state[i])) state[i] = NodeState::priority(round, static_cast<Index>(i));
  }
};

// The least state of a node and its neighbours; out of the set where one of them is in the set, and then for good.
struct LeastAround {
  PatternView graph;
  const unsigned char* left_out;
  const std::uint64_t* state;
  std::uint64_t* least;

  __device__ void operator()(std::int64_t node) const {
    const auto i = static_cast<Index>(node);
    if (left_out[i] || least[i] == NodeState::out_of_set) return;
    std::uint64_t value = state[i];
    for (Offset k = graph.begin(i); k < graph.end(i); ++k) {
      const Index j = graph.col[k];
      if (!left_out[j]) value = min(value, state[j]);
    }
    least[i] = value == NodeState::in_set ? NodeState::out_of_set : value;
  }
};

struct Decide {
  PatternView graph;
  const unsigned char* left_out;
  const std::uint64_t* least;
  std::uint64_t* state;
  unsigned* any_left;

  __device__ void operator()(std::int64_t node) const {
    const auto i = static_cast<Index>(node);
    const std::uint64_t own = state[i];
    if (!is_undecided(own)) return;
    bool out = least[i] == NodeState::out_of_set, in = least[i] == own;
    for (Offset k = graph.begin(i); k < graph.end(i); ++k) {
      const Index j = graph.col[k];
      if (left_out[j]) continue;
      out = out || least[j] == NodeState::out_of_set;
      in = in && least[j] == own;
    }
    if (out || in) {
      state[i] = out ? NodeState::out_of_set : NodeState::in_set;
    } else {
      *any_left = 1;
    }
  }
};

struct IsRoot {
  const std::uint64_t* state;
  Offset* count;

  __device__ void operator()(std::int64_t i) const { count[i] = state[i] == NodeState::in_set ? 1 : 0; }
};

// A root, or the neighbour of the one root that a node can have.
struct TakeNeighbourhoods {
  PatternView graph;
  const unsigned char* left_out;
  const std::uint64_t* state;
  const Offset* number;
  Index* of_node;

  __device__ void operator()(std::int64_t node) const {
    const auto i = static_cast<Index>(node);
    Index to = none;
    if (!left_out[i]) {
      if (state[i] == NodeState::in_set) to = static_cast<Index>(number[i]);
      for (Offset k = graph.begin(i); k < graph.end(i) && to == none; ++k) {
        if (state[graph.col[k]] == NodeState::in_set) to = static_cast<Index>(number[graph.col[k]]);
      }
    }
    of_node[i] = to;
  }
};

struct CountNodes {
  const Index* of_node;
  Index* size;

  __device__ void operator()(std::int64_t i) const {
    if (of_node[i] != none) atomicAdd(size + of_node[i], 1);
  }
};

// The aggregate with which a node has the most edges; of those with as many the smaller, then the first.
struct JoinRemaining {
  PatternView graph;
  const unsigned char* left_out;
  const Index *of_node, *size;
  Index* joined;

  __device__ void operator()(std::int64_t node) const {
    const auto i = static_cast<Index>(node);
    Index best = of_node[i];
    if (best == none && !left_out[i]) {
      Offset most = 0;
      for (Offset k = graph.begin(i); k < graph.end(i); ++k) {
        const Index to = of_node[graph.col[k]];
        if (to == none || to == best) continue;
        Offset edges = 0;
        for (Offset l = graph.begin(i); l < graph.end(i); ++l) edges += of_node[graph.col[l]] == to ? 1 : 0;
        const bool better =
            edges > most || (edges == most && (size[to] < size[best] || (size[to] == size[best] && to < best)));
        if (!better) continue;
        best = to;
        most = edges;
      }
    }
    joined[i] = best;
  }
};

struct SizeFacts {
  Index smallest, largest;
  unsigned long long nodes;
};

struct FindSizeFacts {
  const Index* size;
  SizeFacts* facts;

  __device__ void operator()(std::int64_t j) const {
    atomicMin(&facts->smallest, size[j]);
    atomicMax(&facts->largest, size[j]);
    atomicAdd(&facts->nodes, static_cast<unsigned long long>(size[j]));
  }
};

DeviceArray<Index> sizes_of(const DeviceContext& ctx, const DeviceArray<Index>& of_node, Index count) {
  DeviceArray<Index> size = zeros<Index>(ctx, count);
  for_elements(ctx, of_node.size(), CountNodes{of_node.data(), size.data()});
  return size;
}

// States of all nodes, in or out of the set.
DeviceArray<std::uint64_t> independent_set(const DeviceContext& ctx, const BlockPattern<Space::device>& graph,
                                           const DeviceArray<unsigned char>& left_out) {
  DeviceArray<std::uint64_t> state(ctx, graph.rows);
  for_elements(ctx, graph.rows, FirstState{left_out.data(), state.data()});
  // Nodes that are left out are never read, all others are written before they are.
  DeviceArray<std::uint64_t> least = zeros<std::uint64_t>(ctx, graph.rows);
  DeviceArray<unsigned> any_left(ctx, 1);
  std::uint64_t round = 0;
  for (bool more = graph.rows > 0; more;) {
    for (int i = 0; i < rounds_at_once; ++i, ++round) {
      NEWEL_CHECK_CUDA(cudaMemsetAsync(any_left.data(), 0, any_left.bytes(), ctx.state().stream()));
      for_elements(ctx, graph.rows, DrawPriorities{round, state.data()});
      for_elements(ctx, graph.rows, LeastAround{graph, left_out.data(), state.data(), least.data()});
      for_elements(ctx, graph.rows, Decide{graph, left_out.data(), least.data(), state.data(), any_left.data()});
    }
    more = value_at(ctx, any_left, 0) != 0;
  }
  return state;
}

}  // namespace

Aggregates<Space::device> aggregate(const DeviceContext& ctx, const Strength<Space::device>& strength) {
  const BlockPattern<Space::device>& graph = strength.graph;
  const unsigned char* const left_out = strength.left_out.data();
  const DeviceArray<std::uint64_t> state = independent_set(ctx, graph, strength.left_out);
  DeviceArray<Offset> number = zeros<Offset>(ctx, Offset{graph.rows} + 1);
  for_elements(ctx, graph.rows, IsRoot{state.data(), number.data()});
  exclusive_sum(ctx, number);
  Aggregates<Space::device> result;
  result.count = static_cast<Index>(value_at(ctx, number, graph.rows));
  DeviceArray<Index> of_node(ctx, graph.rows);
  for_elements(ctx, graph.rows, TakeNeighbourhoods{graph, left_out, state.data(), number.data(), of_node.data()});
  const DeviceArray<Index> size = sizes_of(ctx, of_node, result.count);
  result.of_node = DeviceArray<Index>(ctx, graph.rows);
  for_elements(ctx, graph.rows, JoinRemaining{graph, left_out, of_node.data(), size.data(), result.of_node.data()});
  if (result.count == 0) return result;
  const DeviceArray<Index> joined = sizes_of(ctx, result.of_node, result.count);
  DeviceArray<SizeFacts> facts = make_array(ctx, std::vector<SizeFacts>{{graph.rows, 0, 0}});
  for_elements(ctx, result.count, FindSizeFacts{joined.data(), facts.data()});
  const SizeFacts found = value_at(ctx, facts, 0);
  result.smallest = found.smallest;
  result.largest = found.largest;
  result.mean = static_cast<double>(found.nodes) / result.count;
  return result;
}

}  // namespace newel::detail
