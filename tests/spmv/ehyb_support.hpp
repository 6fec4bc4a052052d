// SPDX-License-Identifier: Apache-2.0
/// Parts for the tests of EHYB's layouts.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "tests/reorder/patterns.hpp"
#include "tests/support.hpp"

namespace newel::testing {

/// Random bounds of `parts` parts; multiples of `block`.
inline std::vector<Index> random_bounds(Index rows, Index parts, Index block, std::uint64_t seed) {
  Random random(seed);
  std::set<Index> bounds = {0, rows};
  while (static_cast<Index>(bounds.size()) < std::min(parts, rows / block) + 1) {
    bounds.insert(random.index(rows / block) * block);
  }
  return {bounds.begin(), bounds.end()};
}

}  // namespace newel::testing
