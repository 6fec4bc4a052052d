// SPDX-License-Identifier: Apache-2.0
/// pattern_reach: how many products carry a value from one end of a matrix to the other. Internal.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// Steps along the entries of rows, from the first row to the farthest that it reaches. If it does not reach all, the
/// same from the first row that is left, and so on; the most of these. 0: no entry but the diagonal. O(nnz),
/// sequential.
inline Index pattern_reach(const Pattern<Space::host>& a) {
  std::vector<char> seen(static_cast<std::size_t>(a.rows), 0);
  std::vector<Index> now, next;
  Index most = 0;
  for (Index start = 0; start < a.rows; ++start) {
    if (seen[start] != 0) continue;
    seen[start] = 1;
    now.assign(1, start);
    for (Index steps = 0; !now.empty(); ++steps) {
      most = std::max(most, steps);
      next.clear();
      for (const Index i : now) {
        for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
          const Index j = a.col[k];
          if (seen[j] != 0) continue;
          seen[j] = 1;
          next.push_back(j);
        }
      }
      std::swap(now, next);
    }
  }
  return most;
}

}  // namespace newel::detail
