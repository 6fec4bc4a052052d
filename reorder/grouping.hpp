// SPDX-License-Identifier: Apache-2.0
/// Items sorted by a small key: a counting sort with a histogram per thread. Internal.
#pragma once

#include <vector>

#include <newel/core/context.hpp>
#include <newel/core/span.hpp>

namespace newel::detail {

struct Grouping {
  std::vector<Index> items;  ///< group by group, ascending within each
  std::vector<Index> begin;  ///< groups + 1
};

/// Item i has the key group_of[i], 0 .. groups - 1. O(items + groups x threads).
Grouping group(const Context<Space::host>& ctx, Span<const Index, Space::host> group_of, Index groups);

}  // namespace newel::detail
