// SPDX-License-Identifier: Apache-2.0
// Each piece of the items counts its keys, learns where its share of each group begins, and writes there.
#include "reorder/grouping.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>

namespace newel::detail {

Grouping group(const Context<Space::host>& ctx, Span<const Index, Space::host> group_of, Index groups) {
  const std::int64_t n = group_of.size;
  // Histograms must not outgrow what they count.
  const std::int64_t pieces = std::clamp<std::int64_t>(n / std::max<Index>(groups, 1), 1, ctx.threads());
  const auto bound = [&](std::int64_t piece) { return n * piece / pieces; };
  Grouping result;
  result.items.resize(static_cast<std::size_t>(n));
  result.begin.assign(static_cast<std::size_t>(groups) + 1, 0);
  std::vector<Index> next(static_cast<std::size_t>(pieces * groups), 0);
  parallel_tasks(ctx, pieces, [&](std::int64_t p) {
    for (std::int64_t i = bound(p); i < bound(p + 1); ++i) ++next[static_cast<std::size_t>(p * groups + group_of[i])];
  });
  Index sum = 0;
  for (Index g = 0; g < groups; ++g) {
    result.begin[g] = sum;
    for (std::int64_t p = 0; p < pieces; ++p) {
      Index& place = next[static_cast<std::size_t>(p * groups + g)];
      const Index count = place;
      place = sum;
      sum += count;
    }
  }
  result.begin[groups] = sum;
  parallel_tasks(ctx, pieces, [&](std::int64_t p) {
    for (std::int64_t i = bound(p); i < bound(p + 1); ++i) {
      result.items[next[static_cast<std::size_t>(p * groups + group_of[i])]++] = static_cast<Index>(i);
    }
  });
  return result;
}

}  // namespace newel::detail
