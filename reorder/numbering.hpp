// SPDX-License-Identifier: Apache-2.0
/// Consecutive numbers for groups of items that follow a leader. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/parallel.hpp>

namespace newel::detail {

/// leader(i) is the first item of item i's group: not above i, and its own leader. Groups are numbered by their
/// leaders; `group_of` receives the number of each item's group, and the leaders are returned in their order.
/// Parallel; the same for any number of threads.
template <class Leader>
Array<Index, Space::host> number_groups(const Context<Space::host>& ctx, Index items, const Leader& leader,
                                        Array<Index, Space::host>& group_of) {
  constexpr Index worth_a_range = 1 << 13;
  const Index ranges = std::clamp<Index>(items / worth_a_range, 1, ctx.threads());
  const auto bound = [&](Index range) { return static_cast<Index>(Offset{items} * range / ranges); };
  std::vector<Index> before(static_cast<std::size_t>(ranges) + 1, 0);
  parallel_tasks(ctx, ranges, [&](Index r) {
    Index count = 0;
    for (Index i = bound(r); i < bound(r + 1); ++i) count += leader(i) == i ? 1 : 0;
    before[r + 1] = count;
  });
  for (Index r = 0; r < ranges; ++r) before[r + 1] += before[r];
  group_of = Array<Index, Space::host>(ctx, items);
  Array<Index, Space::host> leaders(ctx, before[ranges]);
  parallel_tasks(ctx, ranges, [&](Index r) {
    Index group = before[r];
    for (Index i = bound(r); i < bound(r + 1); ++i) {
      if (leader(i) != i) continue;
      leaders[group] = i;
      group_of[i] = group++;
    }
  });
  parallel_for(ctx, items, [&](Index i) {
    const Index first = leader(i);
    if (first != i) group_of[i] = group_of[first];
  });
  return leaders;
}

}  // namespace newel::detail
