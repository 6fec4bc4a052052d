// SPDX-License-Identifier: Apache-2.0
// Guessing the rows of a node from a pattern.
#include "precond/saddle/node_guess.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <newel/core/parallel.hpp>

namespace newel::detail {
namespace {

// The groups that a row reaches, each once.
std::vector<Index> groups_of(const SaddlePattern& a, Index row, Index size) {
  std::vector<Index> groups;
  for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    const Index group = a.col[k] / size;
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
  return groups;
}

bool is_coupled(const SaddlePattern& a, Index row, Index size) {
  for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    if (a.col[k] % size != row % size) return true;
  }
  return false;
}

// Whether the rows of a group are coupled to other components and each reaches three quarters of what all reach.
bool is_node(const SaddlePattern& a, Index group, Index size) {
  std::vector<Index> all;
  std::size_t fewest = static_cast<std::size_t>(a.cols);
  for (Index i = 0; i < size; ++i) {
    if (!is_coupled(a, group * size + i, size)) return false;
    const std::vector<Index> groups = groups_of(a, group * size + i, size);
    fewest = std::min(fewest, groups.size());
    std::vector<Index> both;
    std::set_union(all.begin(), all.end(), groups.begin(), groups.end(), std::back_inserter(both));
    all.swap(both);
  }
  return 4 * fewest >= 3 * all.size();
}

}  // namespace

int guessed_node_rows(const Context<Space::host>& ctx, const SaddlePattern& a) {
  for (const Index size : {3, 2}) {
    if (a.rows % size != 0) continue;
    const Index groups = a.rows / size;
    const Index nodes = parallel_count<Index>(ctx, groups, [&](Index group) { return is_node(a, group, size); });
    if (10 * Offset{nodes} >= 9 * Offset{groups}) return static_cast<int>(size);
  }
  return 0;
}

}  // namespace newel::detail
