// SPDX-License-Identifier: Apache-2.0
// Counting the entries of factors.
#include "solver/direct/fill.hpp"

#include <algorithm>
#include <limits>

namespace newel::detail {
namespace {

// Edges of an undirected graph, those of vertex k to smaller ones.
struct LowerEdges {
  std::vector<Index> begin, to;
};

// `each` calls its argument with the two vertices of every edge, the same ones every time.
template <class Each>
LowerEdges edges_by_larger_end(Index size, const Each& each) {
  LowerEdges edges;
  edges.begin.assign(static_cast<std::size_t>(size) + 1, 0);
  each([&](Index a, Index b) { ++edges.begin[static_cast<std::size_t>(std::max(a, b)) + 1]; });
  for (std::size_t k = 0; k < static_cast<std::size_t>(size); ++k) edges.begin[k + 1] += edges.begin[k];
  edges.to.resize(static_cast<std::size_t>(edges.begin.back()));
  std::vector<Index> next(edges.begin.begin(), edges.begin.end() - 1);
  each([&](Index a, Index b) {
    edges.to[static_cast<std::size_t>(next[static_cast<std::size_t>(std::max(a, b))]++)] = std::min(a, b);
  });
  return edges;
}

// Row k of the factor has the vertices on the ways from those that k has an edge to, up the elimination tree to k.
Fill fill_of_graph(Index size, const LowerEdges& edges, double most_entries) {
  const auto n = static_cast<std::size_t>(size);
  std::vector<Index> parent(n, -1), ancestor(n, -1), seen_from(n, -1), column(n, 1);
  double entries = size;
  for (Index k = 0; k < size; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Index* const first = edges.to.data() + edges.begin[at];
    const Index* const last = edges.to.data() + edges.begin[at + 1];
    for (const Index* edge = first; edge != last; ++edge) {  // the tree, with paths compressed
      for (Index j = *edge; j >= 0 && j < k;) {
        const Index next = ancestor[static_cast<std::size_t>(j)];
        ancestor[static_cast<std::size_t>(j)] = k;
        if (next < 0) parent[static_cast<std::size_t>(j)] = k;
        j = next;
      }
    }
    seen_from[at] = k;
    for (const Index* edge = first; edge != last; ++edge) {
      for (auto j = static_cast<std::size_t>(*edge); seen_from[j] != k; j = static_cast<std::size_t>(parent[j])) {
        seen_from[j] = k;
        ++column[j];
        ++entries;
      }
    }
    if (entries > most_entries)
      return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  Fill fill{entries, 0};
  for (const Index count : column) fill.squares += double{static_cast<double>(count)} * count;
  return fill;
}

}  // namespace

Fill fill_of_ldlt(const ColumnPattern& pattern, const std::vector<Index>& new_number, double most_entries) {
  const auto each = [&](const auto& edge) {
    for (Index j = 0; j < pattern.size; ++j) {
      const auto at = static_cast<std::size_t>(j);
      for (Index e = pattern.begin[at]; e < pattern.begin[at + 1]; ++e) {
        const Index i = pattern.row[static_cast<std::size_t>(e)];
        if (i < j) edge(new_number[static_cast<std::size_t>(i)], new_number[at]);
      }
    }
  };
  return fill_of_graph(pattern.size, edges_by_larger_end(pattern.size, each), most_entries);
}

// A row of A connects all its columns in A^T A. Edges from the first of them to the others alone have the same fill,
// since eliminating it connects the others.
Fill fill_of_lu(const ColumnPattern& pattern, const std::vector<Index>& new_number, double most_entries) {
  std::vector<Index> first(static_cast<std::size_t>(pattern.size), pattern.size);
  const auto each_entry = [&](const auto& entry) {
    for (Index j = 0; j < pattern.size; ++j) {
      const auto at = static_cast<std::size_t>(j);
      for (Index e = pattern.begin[at]; e < pattern.begin[at + 1]; ++e) {
        entry(static_cast<std::size_t>(pattern.row[static_cast<std::size_t>(e)]), new_number[at]);
      }
    }
  };
  each_entry([&](std::size_t i, Index column) { first[i] = std::min(first[i], column); });
  const auto each = [&](const auto& edge) {
    each_entry([&](std::size_t i, Index column) {
      if (column != first[i]) edge(first[i], column);
    });
  };
  return fill_of_graph(pattern.size, edges_by_larger_end(pattern.size, each), most_entries);
}

}  // namespace newel::detail
