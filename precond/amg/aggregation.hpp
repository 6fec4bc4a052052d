// SPDX-License-Identifier: Apache-2.0
/// Aggregates of nodes around a maximal independent set of distance 2 (B. Kelley and S. Rajamanickam, "Parallel,
/// portable algorithms for distance-2 maximal independent set and graph coarsening", arXiv 2204.02934). Internal.
#pragma once

#include <vector>

#include <purlin/precond/amg/strength.hpp>

namespace purlin::detail {

/// A set of nodes no two of which are joined by a path of one or two edges, and which no node can join: ascending.
/// Only nodes with `eligible` and paths through such nodes count. The graph is symmetric. Priorities come from a hash
/// of the round and the node: the same set for any number of threads.
std::vector<Index> independent_set(const HostContext& ctx, const BlockPattern& graph,
                                   const std::vector<unsigned char>& eligible);

struct Aggregates {
  Index count = 0;
  std::vector<Index> of_node;  ///< 0 .. count - 1, -1 for nodes left out
  Index smallest = 0;          ///< nodes
  Index largest = 0;
  double mean = 0;
};

/// Roots and their neighbours; then each remaining node joins the aggregate with which it has the most edges (the
/// smaller, then the first of those with as many). A second set of roots among the nodes that remain would make
/// smaller aggregates and save no iterations.
Aggregates aggregate(const HostContext& ctx, const Strength& strength);

}  // namespace purlin::detail
