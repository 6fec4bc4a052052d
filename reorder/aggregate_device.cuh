// SPDX-License-Identifier: Apache-2.0
/// Smaller graphs on the device: vertices gather around seeds that are no neighbours of each other. Internal.
#pragma once

#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "reorder/exclusive_sum.hpp"
#include "reorder/graph_device.cuh"

namespace newel::detail {

struct AggregateTuning {
  static constexpr int rounds = 4;  // of seeds: what is left then, a few vertices in a thousand, stays alone
  static constexpr int contract_warps = 4;
  static constexpr int most_edges = 512;  // of an aggregate: what a warp has room for. No vertex may have more.
};

namespace {

// A vertex without an aggregate is a seed where it comes first, by its mixed number, among such neighbours.
template <class View>
__global__ void __launch_bounds__(vertex_threads) mark_seeds_kernel(View g, const Index* leader, bool* seed) {
  for_each_vertex(g.vertices, [&](Index v) {
    bool first = leader[v] < 0;
    const std::uint32_t mine = mixed(static_cast<std::uint32_t>(v));
    const Offset begin = g.first(v);
    for (int k = 0; first && k < g.degree(v); ++k) {
      const Index u = g.neighbour(begin, k);
      first = u == v || leader[u] >= 0 || mixed(static_cast<std::uint32_t>(u)) > mine;
    }
    seed[v] = first;
  });
}

// A vertex without an aggregate that is no seed chooses the one that it is tied to most.
template <class View>
__global__ void __launch_bounds__(vertex_threads)
    choose_seed_kernel(View g, const Index* leader, const bool* seed, Index* choice) {
  for_each_vertex(g.vertices, [&](Index v) {
    Index best = -1, best_weight = 0;
    const Offset begin = g.first(v);
    for (int k = 0; leader[v] < 0 && !seed[v] && k < g.degree(v); ++k) {
      const Index u = g.neighbour(begin, k);
      if (u == v || !seed[u]) continue;
      const Index weight = g.edge(begin, k);
      const bool better = weight != best_weight
                              ? weight > best_weight
                              : mixed(static_cast<std::uint32_t>(u)) < mixed(static_cast<std::uint32_t>(best));
      if (best < 0 || better) {
        best = u;
        best_weight = weight;
      }
    }
    choice[v] = best;
  });
}

// A seed takes those that chose it, in the order of its list, as long as there is room.
template <class View>
__global__ void __launch_bounds__(vertex_threads)
    accept_kernel(View g, const bool* seed, const Index* choice, Offset most_weight, Index* leader) {
  for_each_vertex(g.vertices, [&](Index v) {
    if (!seed[v]) return;
    leader[v] = v;
    Offset weight = g.weight(v);
    int edges = g.degree(v);
    const Offset begin = g.first(v);
    for (int k = 0; k < g.degree(v); ++k) {
      const Index u = g.neighbour(begin, k);
      if (u == v || choice[u] != v || weight + g.weight(u) > most_weight) continue;
      if (edges + g.degree(u) > AggregateTuning::most_edges) continue;
      leader[u] = v;
      weight += g.weight(u);
      edges += g.degree(u);
    }
  });
}

// Who is left leads itself. number[v] = 1 for leaders, and a 0 behind all.
template <class View>
__global__ void __launch_bounds__(vertex_threads) finish_leaders_kernel(View g, Index* leader, Offset* number) {
  if (blockIdx.x == 0 && threadIdx.x == 0) number[g.vertices] = 0;
  for_each_vertex(g.vertices, [&](Index v) {
    if (leader[v] < 0) leader[v] = v;
    number[v] = leader[v] == v ? 1 : 0;
  });
}

template <class View>
__global__ void __launch_bounds__(vertex_threads)
    number_kernel(View g, const Index* leader, const Offset* number, Index* coarse_of_fine, Index* leader_of_coarse) {
  for_each_vertex(g.vertices, [&](Index v) {
    const auto coarse = static_cast<Index>(number[leader[v]]);
    coarse_of_fine[v] = coarse;
    if (leader[v] == v) leader_of_coarse[coarse] = v;
  });
}

// A warp has an aggregate: it stages the edges of its members, its leader's first, finds for each the first one to
// the same aggregate, and counts these; or writes them with the sums of their weights.
template <bool fill, class View>
__global__ void __launch_bounds__(32 * AggregateTuning::contract_warps)
    contract_kernel(View g, Index aggregates, const Index* leader, const Index* coarse_of_fine,
                    const Index* leader_of_coarse, Offset* begin, Index* vertex_weight, Index* neighbour,
                    Index* edge_weight) {
  constexpr int warps = AggregateTuning::contract_warps, most = AggregateTuning::most_edges;
  constexpr unsigned full_warp = 0xffffffffu;
  __shared__ Index all_ends[warps][most];
  __shared__ Index all_weights[warps][most];
  const int lane = static_cast<int>(threadIdx.x % 32);
  Index* const ends = all_ends[threadIdx.x / 32];
  Index* const weights = all_weights[threadIdx.x / 32];
  const unsigned below = (1u << lane) - 1;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps;
  for (std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / 32; c < aggregates; c += step) {
    const Index seed = leader_of_coarse[c];
    const Offset seed_first = g.first(seed);
    const int seed_degree = g.degree(seed);
    int edges = 0;
    Offset weight = 0;
    for (int m = -1; m < seed_degree; ++m) {  // the same for the whole warp
      const Index v = m < 0 ? seed : g.neighbour(seed_first, m);
      if (m >= 0 && (v == seed || leader[v] != seed)) continue;
      weight += g.weight(v);
      const Offset first = g.first(v);
      const int degree = g.degree(v);
      for (int base = 0; base < degree; base += 32) {
        const int k = base + lane;
        const Index end = k < degree ? coarse_of_fine[g.neighbour(first, k)] : static_cast<Index>(c);
        const bool leaves = end != static_cast<Index>(c);
        const unsigned leaving = __ballot_sync(full_warp, leaves);
        const int at = edges + __popc(leaving & below);
        if (leaves) {
          ends[at] = end;
          weights[at] = g.edge(first, k);
        }
        edges += __popc(leaving);
      }
    }
    __syncwarp();
    int ones = 0;
    for (int base = 0; base < edges; base += 32) {
      const int k = base + lane;
      bool first = k < edges;
      Offset sum = 0;
      for (int t = 0; k < edges && t < edges; ++t) {
        if (ends[t] != ends[k]) continue;
        first = first && t >= k;
        sum += weights[t];
      }
      const unsigned firsts = __ballot_sync(full_warp, first);
      if constexpr (fill) {
        if (first) {
          const Offset at = begin[c] + ones + __popc(firsts & below);
          neighbour[at] = ends[k];
          edge_weight[at] = static_cast<Index>(min(sum, Offset{0x7fffffff}));
        }
      }
      ones += __popc(firsts);
    }
    if (lane == 0) {
      if constexpr (fill) {
        vertex_weight[c] = static_cast<Index>(weight);
      } else {
        begin[c] = ones;
        if (c + 1 == aggregates) begin[aggregates] = 0;
      }
    }
    __syncwarp();
  }
}

}  // namespace

struct DeviceLevel {
  DeviceGraph graph;
  Array<Index, Space::device> coarse_of_fine;
};

/// One round: aggregates of a vertex and neighbours of it, at most `most_weight` together. No vertex of the symmetric
/// graph has more than AggregateTuning::most_edges neighbours; none of the result does. The same on every run. Waits
/// for the stream twice.
template <class View>
DeviceLevel aggregate_once(const Context<Space::device>& ctx, const View& g, Offset most_weight) {
  const cudaStream_t stream = ctx.state().stream();
  const unsigned blocks = vertex_blocks(ctx, g.vertices);
  Array<Index, Space::device> leader(ctx, g.vertices), choice(ctx, g.vertices);
  Array<bool, Space::device> seed(ctx, g.vertices);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(leader.data(), 0xff, leader.bytes(), stream));  // -1: none
  for (int round = 0; round < AggregateTuning::rounds; ++round) {
    mark_seeds_kernel<<<blocks, vertex_threads, 0, stream>>>(g, leader.data(), seed.data());
    NEWEL_CHECK_LAUNCH();
    choose_seed_kernel<<<blocks, vertex_threads, 0, stream>>>(g, leader.data(), seed.data(), choice.data());
    NEWEL_CHECK_LAUNCH();
    accept_kernel<<<blocks, vertex_threads, 0, stream>>>(g, seed.data(), choice.data(), most_weight, leader.data());
    NEWEL_CHECK_LAUNCH();
  }
  Array<Offset, Space::device> number(ctx, Offset{g.vertices} + 1);
  finish_leaders_kernel<<<blocks, vertex_threads, 0, stream>>>(g, leader.data(), number.data());
  NEWEL_CHECK_LAUNCH();
  exclusive_sum(ctx, number);
  DeviceLevel level;
  level.graph.vertices = static_cast<Index>(fetch(ctx, number.cspan().data + g.vertices));
  const Index aggregates = level.graph.vertices;
  level.coarse_of_fine = Array<Index, Space::device>(ctx, g.vertices);
  Array<Index, Space::device> leader_of_coarse(ctx, aggregates);
  number_kernel<<<blocks, vertex_threads, 0, stream>>>(g, leader.data(), number.data(), level.coarse_of_fine.data(),
                                                       leader_of_coarse.data());
  NEWEL_CHECK_LAUNCH();
  DeviceGraph& coarse = level.graph;
  coarse.begin = Array<Offset, Space::device>(ctx, Offset{aggregates} + 1);
  coarse.vertex_weight = Array<Index, Space::device>(ctx, aggregates);
  constexpr int threads = 32 * AggregateTuning::contract_warps;
  const unsigned contract_blocks =
      vertex_blocks(ctx, static_cast<Index>(std::min<std::int64_t>(Offset{aggregates} * 64, 0x7fffffff)));
  contract_kernel<false><<<contract_blocks, threads, 0, stream>>>(
      g, aggregates, leader.data(), level.coarse_of_fine.data(), leader_of_coarse.data(), coarse.begin.data(),
      static_cast<Index*>(nullptr), static_cast<Index*>(nullptr), static_cast<Index*>(nullptr));
  NEWEL_CHECK_LAUNCH();
  exclusive_sum(ctx, coarse.begin);
  const Offset edges = fetch(ctx, coarse.begin.cspan().data + aggregates);
  coarse.neighbour = Array<Index, Space::device>(ctx, edges);
  coarse.edge_weight = Array<Index, Space::device>(ctx, edges);
  contract_kernel<true><<<contract_blocks, threads, 0, stream>>>(
      g, aggregates, leader.data(), level.coarse_of_fine.data(), leader_of_coarse.data(), coarse.begin.data(),
      coarse.vertex_weight.data(), coarse.neighbour.data(), coarse.edge_weight.data());
  NEWEL_CHECK_LAUNCH();
  return level;
}

}  // namespace newel::detail
