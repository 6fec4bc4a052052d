// SPDX-License-Identifier: Apache-2.0
// Each thread adds up a range, and begins it with the sum of the ranges before.
#include "reorder/exclusive_sum.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <newel/core/parallel.hpp>

namespace newel::detail {

void exclusive_sum(const Context<Space::host>& ctx, Array<Offset, Space::host>& counts) {
  constexpr std::int64_t worth_a_range = 1 << 14;
  const std::int64_t n = counts.size();
  const std::int64_t ranges = std::clamp<std::int64_t>(n / worth_a_range, 1, ctx.threads());
  const auto bound = [&](std::int64_t range) { return n * range / ranges; };
  std::vector<Offset> begin(static_cast<std::size_t>(ranges) + 1, 0);
  parallel_tasks(
      ctx, ranges,
      [&](std::int64_t r) {
        begin[r + 1] = std::accumulate(counts.data() + bound(r), counts.data() + bound(r + 1), Offset{0});
      },
      threads_if(ranges > 1));
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  parallel_tasks(
      ctx, ranges,
      [&](std::int64_t r) {
        std::exclusive_scan(counts.data() + bound(r), counts.data() + bound(r + 1), counts.data() + bound(r),
                            begin[r]);
      },
      threads_if(ranges > 1));
}

}  // namespace newel::detail
