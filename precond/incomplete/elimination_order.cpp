// SPDX-License-Identifier: Apache-2.0
// Orders of elimination: reverse Cuthill-McKee and colours.
#include <algorithm>
#include <numeric>

#include "precond/incomplete/factor_pattern.hpp"

namespace newel::detail {
namespace {

Offset degree(const Sparsity& a, Index i) { return a.row_length(i); }

// The vertices that can be reached from `start`, nearest first, those of a vertex by degree; appended to `order`.
// Vertices count as new if their mark differs from `mark`.
void walk(const Sparsity& a, Index start, Index mark, std::vector<Index>& marks, std::vector<Index>& order) {
  const auto by_degree = [&](Index x, Index y) { return std::pair(degree(a, x), x) < std::pair(degree(a, y), y); };
  std::size_t at = order.size();
  order.push_back(start);
  marks[start] = mark;
  for (; at < order.size(); ++at) {
    const Index v = order[at];
    const std::size_t first = order.size();
    for (Offset k = a.row_ptr[v]; k < a.row_ptr[v + 1]; ++k) {
      if (marks[a.col[k]] == mark) continue;
      marks[a.col[k]] = mark;
      order.push_back(a.col[k]);
    }
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(), by_degree);
  }
}

// Each component begins at an end: the last vertex reached from the last one reached from its first.
std::vector<Index> cuthill_mckee(const Sparsity& a) {
  constexpr Index unseen = 0, first_sweep = 1, second_sweep = 2, placed = 3;
  std::vector<Index> marks(static_cast<std::size_t>(a.rows), unseen), order, reached;
  order.reserve(marks.size());
  for (Index i = 0; i < a.rows; ++i) {
    if (marks[i] != unseen) continue;
    Index start = i;
    for (const Index sweep : {first_sweep, second_sweep}) {
      reached.clear();
      walk(a, start, sweep, marks, reached);
      start = reached.back();
    }
    walk(a, start, placed, marks, order);
  }
  return order;
}

// Every vertex in turn gets the first colour that no neighbour has.
std::vector<Index> by_colours(const Sparsity& a) {
  const auto n = static_cast<std::size_t>(a.rows);
  constexpr Index none = -1;
  std::vector<Index> colour(n, none), taken_by, order(n);
  for (Index i = 0; i < a.rows; ++i) {
    taken_by.resize(std::max(taken_by.size(), static_cast<std::size_t>(degree(a, i)) + 1), none);
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Index j = a.col[k];
      if (j == i || colour[j] == none) continue;
      if (static_cast<std::size_t>(colour[j]) < taken_by.size()) taken_by[colour[j]] = i;
    }
    colour[i] = static_cast<Index>(std::find_if(taken_by.begin(), taken_by.end(), [&](Index by) { return by != i; }) -
                                   taken_by.begin());
  }
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index x, Index y) { return colour[x] < colour[y]; });
  return order;
}

}  // namespace

std::vector<Index> elimination_order(const Sparsity& symmetric, FactorOrder order) {
  if (order == FactorOrder::automatic || order == FactorOrder::rcm) {
    std::vector<Index> found = cuthill_mckee(symmetric);
    std::reverse(found.begin(), found.end());
    return found;
  }
  if (order == FactorOrder::colours) return by_colours(symmetric);
  std::vector<Index> natural(static_cast<std::size_t>(symmetric.rows));
  std::iota(natural.begin(), natural.end(), Index{0});
  return natural;
}

}  // namespace newel::detail
