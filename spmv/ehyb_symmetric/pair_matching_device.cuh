// SPDX-License-Identifier: Apache-2.0
/// Matchings of the pairs of a part by a block of threads: nodes choose each other, pass by pass. Internal.
#pragma once

#include "reorder/graph_device.cuh"
#include "spmv/ehyb_symmetric/pair_matchings.hpp"

namespace newel::detail {

inline constexpr int match_threads = 1024;
inline constexpr int match_passes = 16;  ///< of choices for a round; few are left to choose after ten
inline constexpr int weight_bins = 512;  ///< pairs that both nodes of a pair have left, together

/// The pattern in parts, and the room of what is found: lists of nodes stand where their blocks stand.
template <class RowPtr>
struct PairView {
  DeviceGraphView<RowPtr> nodes;
  const Index* node_begin;  ///< of each part
  std::uint16_t* partner;   ///< of each block that has an opposite in the part: its column within the part
  std::uint16_t* slot;      ///< and its place in the row
  Index* ties;              ///< of each node: how many there are; then how many rounds took, then blocks left
  char* paired;             ///< of each block: 1 where a round has it
  int* refused;

  __device__ Offset blocks_before(Index v) const { return nodes.first(v) / (Offset{nodes.block} * nodes.block); }
};

/// What a block of threads knows of its part's nodes, in shared memory.
struct NodeStates {
  std::uint16_t* left;     ///< pairs that are in no round yet: the length of the node's list
  std::uint16_t* partner;  ///< whom the node has chosen
  std::uint16_t* chosen;   ///< as which of its list; `nobody` where there is none
  unsigned char* matched;

  static constexpr int bytes = 3 * sizeof(std::uint16_t) + 1;
  static constexpr std::uint16_t nobody = 0xffff;

  __device__ NodeStates(unsigned char* base, Index nodes)
      : left(reinterpret_cast<std::uint16_t*>(base)),
        partner(left + nodes),
        chosen(partner + nodes),
        matched(reinterpret_cast<unsigned char*>(chosen + nodes)) {}
};

/// The free partner to whom both ends give the highest number: by the pairs that the fuller of them has left, then by
/// the other's, then by chance.
template <class RowPtr>
__device__ __forceinline__ void choose(const PairView<RowPtr>& a, Offset list, Index v, unsigned round,
                                       const NodeStates& state) {
  state.chosen[v] = NodeStates::nobody;
  unsigned long long most = 0;
  const unsigned own = state.left[v];
  for (unsigned k = 0; k < own; ++k) {
    const unsigned u = a.partner[list + k];
    if (state.matched[u] != 0) continue;
    const unsigned other = state.left[u];
    const unsigned chance =
        mixed((min(static_cast<unsigned>(v), u) << 16 | max(static_cast<unsigned>(v), u)) + 0x9e3779b9u * round);
    const unsigned long long value = static_cast<unsigned long long>(max(own, other)) << 48 |
                                     static_cast<unsigned long long>(min(own, other)) << 32 | chance;
    if (state.chosen[v] != NodeStates::nobody && value <= most) continue;
    most = value;
    state.partner[v] = static_cast<std::uint16_t>(u);
    state.chosen[v] = static_cast<std::uint16_t>(k);
  }
}

/// Matches nodes of the part, until no two choose each other any more: `matched` says which.
template <class RowPtr>
__device__ void match_nodes(const PairView<RowPtr>& a, Index begin, Index nodes, unsigned round,
                            const NodeStates& state, int* any) {
  const auto threads = static_cast<Index>(blockDim.x), thread = static_cast<Index>(threadIdx.x);
  for (Index v = thread; v < nodes; v += threads) state.matched[v] = 0;
  __syncthreads();
  for (int pass = 0; pass < match_passes; ++pass) {
    if (thread == 0) *any = 0;
    for (Index v = thread; v < nodes; v += threads) {
      if (state.matched[v] != 0) continue;
      if (pass > 0 && (state.chosen[v] == NodeStates::nobody || state.matched[state.partner[v]] == 0)) continue;
      choose(a, a.blocks_before(begin + v), v, round, state);
    }
    __syncthreads();
    for (Index v = thread; v < nodes; v += threads) {
      // The first node's thread writes both marks; it alone reads its own.
      if (state.chosen[v] == NodeStates::nobody || v > static_cast<Index>(state.partner[v])) continue;
      const Index u = state.partner[v];
      if (state.matched[v] != 0 || state.chosen[u] == NodeStates::nobody || state.partner[u] != v) continue;
      state.matched[v] = state.matched[u] = 1;
      atomicExch(any, 1);
    }
    __syncthreads();
    const bool found = *any != 0;
    __syncthreads();
    if (!found) break;
  }
}

/// How many of the pairs found go into the round: all heavier than `weight`, and `of_weight` of those as heavy, in
/// their order.
struct Cap {
  int weight = -1;
  Index of_weight = 0;
};

__device__ __forceinline__ int pair_weight(const NodeStates& state, Index v) {
  return min(state.left[v] + state.left[state.partner[v]], weight_bins - 1);
}

__device__ __forceinline__ bool begins_pair(const NodeStates& state, Index v) {
  return state.matched[v] != 0 && v < static_cast<Index>(state.partner[v]);
}

/// Counts the pairs by weight in `bins`; where they are more than `most`, the cap. For all threads alike.
inline __device__ Cap cap_of(Index nodes, Index most, const NodeStates& state, int* bins, Index& found) {
  const auto threads = static_cast<Index>(blockDim.x), thread = static_cast<Index>(threadIdx.x);
  for (Index b = thread; b < weight_bins; b += threads) bins[b] = 0;
  __syncthreads();
  for (Index v = thread; v < nodes; v += threads) {
    if (begins_pair(state, v)) atomicAdd(bins + pair_weight(state, v), 1);
  }
  __syncthreads();
  Cap cap;
  found = 0;
  for (int b = weight_bins - 1; b >= 0; --b) {
    if (found <= most && found + bins[b] > most) cap = {b, most - found};
    found += bins[b];
  }
  __syncthreads();
  return cap;
}

/// A thread's place among those before it with a flag, and how many there are in all. `sums` has a place for each
/// warp.
__device__ __forceinline__ int place_among(bool flag, int* sums, int& all) {
  constexpr int warp = 32;
  const int lane = static_cast<int>(threadIdx.x % warp), mine = static_cast<int>(threadIdx.x / warp);
  const unsigned flags = __ballot_sync(0xffffffffu, flag);
  __syncthreads();
  if (lane == 0) sums[mine] = __popc(flags);
  __syncthreads();
  int before = __popc(flags & ((1u << lane) - 1));
  all = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / warp; ++w) {
    if (w < mine) before += sums[w];
    all += sums[w];
  }
  return before;
}

/// Takes pair `chosen` from the node's list, and the last one takes its place.
template <class RowPtr>
__device__ __forceinline__ Index take(const PairView<RowPtr>& a, Offset list, Index v, const NodeStates& state) {
  const Offset at = list + state.chosen[v], last = list + --state.left[v];
  const Index slot = a.slot[at];
  a.partner[at] = a.partner[last];
  a.slot[at] = a.slot[last];
  a.paired[list + slot] = 1;
  return slot;
}

/// Where a part's pairs and the sizes of its rounds go.
struct MatchOut {
  NodePair* pairs;            ///< those of part p from pair_begin[p] on
  const Offset* pair_begin;   ///< parts + 1
  Index* sizes;               ///< pairs of the rounds, from round_begin[p] on
  const Offset* round_begin;  ///< parts + 1
  Index* rounds;              ///< of a part
};

/// A block takes rounds from its part.
template <class RowPtr>
__global__ void __launch_bounds__(match_threads) match_kernel(PairView<RowPtr> a, Index most_pairs, MatchOut out) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ int bins[weight_bins];
  __shared__ int sums[match_threads / 32];  // a warp's each
  __shared__ int any;
  const auto p = static_cast<Index>(blockIdx.x);
  const Index begin = a.node_begin[p], nodes = a.node_begin[p + 1] - begin;
  const auto threads = static_cast<Index>(blockDim.x), thread = static_cast<Index>(threadIdx.x);
  const NodeStates state(shared_bytes, nodes);
  for (Index v = thread; v < nodes; v += threads) state.left[v] = static_cast<std::uint16_t>(a.ties[begin + v]);
  const Index full = min(most_pairs, nodes / 2);
  NodePair* to = out.pairs + out.pair_begin[p];
  Index round = 0;
  for (const Offset most_rounds = out.round_begin[p + 1] - out.round_begin[p]; round < most_rounds; ++round) {
    match_nodes(a, begin, nodes, static_cast<unsigned>(round), state, &any);
    Index found = 0;
    const Cap cap = cap_of(nodes, most_pairs, state, bins, found);
    const Index taken = min(found, most_pairs);
    if (taken == 0 || 4 * taken < full) break;
    int heavier = 0, as_heavy = 0;  // of the nodes before
    for (Index base = 0; base < nodes; base += threads) {
      const Index v = base + thread;
      const bool begins = v < nodes && begins_pair(state, v);
      const int weight = begins ? pair_weight(state, v) : 0;
      int all_heavier = 0, all_as_heavy = 0;
      const int place = heavier + place_among(begins && weight > cap.weight, sums, all_heavier);
      const int equal = as_heavy + place_among(begins && weight == cap.weight, sums, all_as_heavy);
      if (begins && (weight > cap.weight || (weight == cap.weight && equal < cap.of_weight))) {
        const Index u = state.partner[v];
        const Index upper = take(a, a.blocks_before(begin + v), v, state);
        const Index lower = take(a, a.blocks_before(begin + u), u, state);
        to[place + min(equal, cap.of_weight)] = {v, u, upper, lower};
      }
      heavier += all_heavier;
      as_heavy += all_as_heavy;
    }
    to += taken;
    if (thread == 0) out.sizes[out.round_begin[p] + round] = taken;
    __syncthreads();
  }
  if (thread == 0) out.rounds[p] = round;
  for (Index v = thread; v < nodes; v += threads) a.ties[begin + v] -= state.left[v];
}

}  // namespace newel::detail
