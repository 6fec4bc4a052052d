// SPDX-License-Identifier: Apache-2.0
/// Aggregates of nodes around a maximal independent set of distance 2 (B. Kelley and S. Rajamanickam, "Parallel,
/// portable algorithms for distance-2 maximal independent set and graph coarsening", arXiv 2204.02934). Internal.
#pragma once

#include <cstdint>
#include <vector>

#include "precond/amg/setup/strength.hpp"

namespace newel::detail {

/// A set of nodes no two of which are joined by a path of one or two edges, and which no node can join: ascending.
/// Only nodes with `eligible` and paths through such nodes count. The graph is symmetric. Priorities come from a hash
/// of the round and the node: the same set for any number of threads.
std::vector<Index> independent_set(const HostContext& ctx, const HostBlockPattern& graph,
                                   const std::vector<unsigned char>& eligible);

template <Space S>
struct Aggregates {
  Index count = 0;
  StageArray<Index, S> of_node;  ///< 0 .. count - 1, -1 for nodes left out
  /// Of a rank: after its nodes, `of_node` and the tentative prolongator have those of other ranks that its rows
  /// reach, and each of these is an aggregate after `count`. Prolongators take none of them: their part goes to those
  /// that a row has.
  Index others = 0;
  Index smallest = 0;  ///< nodes
  Index largest = 0;
  double mean = 0;
};

/// Roots and their neighbours; then each remaining node joins the aggregate with which it has the most edges (the
/// smaller, then the first of those with as many). A second set of roots among the nodes that remain would make
/// smaller aggregates and save no iterations.
Aggregates<Space::host> aggregate(const HostContext& ctx, const Strength<Space::host>& strength);
/// The same aggregates.
Aggregates<Space::device> aggregate(const DeviceContext& ctx, const Strength<Space::device>& strength);

/// A node's state while independent sets are found, in one word: in the set, out of it, or undecided with a priority
/// above the node's number.
struct NodeState {
  static constexpr std::uint64_t in_set = 0;
  static constexpr std::uint64_t out_of_set = ~std::uint64_t{0};

  NEWEL_HD static std::uint64_t priority(std::uint64_t round, Index node) {
    std::uint64_t z = static_cast<std::uint64_t>(node) * 0x9e3779b97f4a7c15u + round * 0xd1b54a32d192ed03u + 1;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((z & 0x7fffffffu) << 32) | (static_cast<std::uint64_t>(node) + 1);
  }
};

}  // namespace newel::detail
