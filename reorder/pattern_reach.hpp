// SPDX-License-Identifier: Apache-2.0
/// pattern_reach: how many products carry a value from one end of a matrix to the other. Internal.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// Steps along the entries of rows, from one end of the pattern to the other: from the row that is the farthest from
/// the first row to the farthest that it reaches. A mesh may be numbered from its middle. If the first row does not
/// reach all, the same from the first row that is left, and so on; the most of these. 0: no entry but the diagonal.
/// O(nnz), sequential.
inline Index pattern_reach(const Pattern<Space::host>& a) {
  enum Seen : char { no, once, twice };
  std::vector<char> seen(static_cast<std::size_t>(a.rows), no);
  std::vector<Index> now, next;
  // Steps to the farthest, which is left in `farthest`.
  const auto sweep = [&](Index start, char mark, Index& farthest) {
    Index steps = 0;
    seen[start] = mark;
    now.assign(1, start);
    while (true) {
      next.clear();
      for (const Index i : now) {
        for (Offset k = a.row_begin(i); k < a.row_begin(i + 1); ++k) {
          const Index j = a.col[k];
          if (seen[j] >= mark) continue;
          seen[j] = mark;
          next.push_back(j);
        }
      }
      farthest = now.back();
      if (next.empty()) return steps;
      std::swap(now, next);
      ++steps;
    }
  };
  Index most = 0;
  for (Index start = 0; start < a.rows; ++start) {
    if (seen[start] != no) continue;
    Index end = start;
    const Index forth = sweep(start, once, end);
    most = std::max({most, forth, sweep(end, twice, end)});
  }
  return most;
}

}  // namespace newel::detail
