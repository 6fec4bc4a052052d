// SPDX-License-Identifier: Apache-2.0
/// Parts and node blocks for the tests of EHYB's layouts.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support.hpp"

namespace purlin::testing {

/// Random bounds of `parts` parts; multiples of `block`.
inline std::vector<Index> random_bounds(Index rows, Index parts, Index block, std::uint64_t seed) {
  Random random(seed);
  std::set<Index> bounds = {0, rows};
  while (static_cast<Index>(bounds.size()) < std::min(parts, rows / block) + 1) {
    bounds.insert(random.index(rows / block) * block);
  }
  return {bounds.begin(), bounds.end()};
}

/// The matrix with each entry replaced by a full b x b block.
inline HostCsr blown_up(const HostCsr& a, Index b) {
  Rows rows(static_cast<std::size_t>(a.rows * b));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      for (Index d = 0; d < b; ++d) {
        for (Index e = 0; e < b; ++e) rows[static_cast<std::size_t>(i * b + d)][a.col[k] * b + e] = 1;
      }
    }
  }
  return from_rows(a.cols * b, rows);
}

}  // namespace purlin::testing
