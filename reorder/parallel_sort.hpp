// SPDX-License-Identifier: Apache-2.0
/// Sorting with all threads of a context: pieces first, then their merges two by two. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <purlin/core/array.hpp>

namespace purlin::detail {

/// Sorts values that `less` orders totally: the result does not depend on the number of threads.
template <class Value, class Less>
void parallel_sort(const Context<Space::host>& ctx, Array<Value, Space::host>& values, const Less& less) {
  constexpr std::int64_t worth_a_thread = 1 << 14;
  const std::int64_t n = values.size();
  std::int64_t pieces = 1;
  while (2 * pieces <= ctx.threads() && 2 * pieces * worth_a_thread <= n) pieces *= 2;
  const auto bound = [&](std::int64_t piece) { return n * piece / pieces; };
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
  for (std::int64_t p = 0; p < pieces; ++p) {
    std::sort(values.data() + bound(p), values.data() + bound(p + 1), less);
  }
  if (pieces == 1) return;
  Array<Value, Space::host> other(ctx, n);
  for (std::int64_t width = 1; width < pieces; width *= 2) {
#pragma omp parallel for num_threads(ctx.threads()) schedule(static, 1)
    for (std::int64_t p = 0; p < pieces; p += 2 * width) {
      const Value* from = values.data();
      std::merge(from + bound(p), from + bound(p + width), from + bound(p + width), from + bound(p + 2 * width),
                 other.data() + bound(p), less);
    }
    values.swap(other);
  }
}

}  // namespace purlin::detail
