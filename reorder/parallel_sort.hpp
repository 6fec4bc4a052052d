// SPDX-License-Identifier: Apache-2.0
/// Sorting with all threads of a context: pieces first, then their merges two by two. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/parallel.hpp>

namespace newel::detail {

/// One of `shares` of the merge of two ascending ranges: an equal share of the first, and what of the second belongs
/// between its ends. Values that `less` orders totally fall into one share each.
template <class Value, class Less>
void merge_share(const Value* first, const Value* middle, const Value* last, Value* to, std::int64_t share,
                 std::int64_t shares, const Less& less) {
  const auto begin_in_first = [&](std::int64_t s) { return first + (middle - first) * s / shares; };
  const auto begin_in_second = [&](std::int64_t s) {
    if (s == 0) return middle;
    return s == shares ? last : std::lower_bound(middle, last, *begin_in_first(s), less);
  };
  const Value *a = begin_in_first(share), *b = begin_in_second(share);
  std::merge(a, begin_in_first(share + 1), b, begin_in_second(share + 1), to + (a - first) + (b - middle), less);
}

/// Sorts values that `less` orders totally: the result does not depend on the number of threads.
template <class Value, class Less>
void parallel_sort(const Context<Space::host>& ctx, Array<Value, Space::host>& values, const Less& less) {
  constexpr std::int64_t worth_a_thread = 1 << 14;
  const std::int64_t n = values.size();
  std::int64_t pieces = 1;
  while (2 * pieces <= ctx.threads() && 2 * pieces * worth_a_thread <= n) pieces *= 2;
  const auto bound = [&](std::int64_t piece) { return n * piece / pieces; };
  parallel_tasks(ctx, pieces,
                 [&](std::int64_t p) { std::sort(values.data() + bound(p), values.data() + bound(p + 1), less); });
  if (pieces == 1) return;
  Array<Value, Space::host> other(ctx, n);
  for (std::int64_t width = 1; width < pieces; width *= 2) {
    const Value* from = values.data();
    parallel_tasks(ctx, pieces, [&](std::int64_t p) {
      const std::int64_t first = p / (2 * width) * (2 * width);
      merge_share(from + bound(first), from + bound(first + width), from + bound(first + 2 * width),
                  other.data() + bound(first), p - first, 2 * width, less);
    });
    values.swap(other);
  }
}

}  // namespace newel::detail
