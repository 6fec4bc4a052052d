// SPDX-License-Identifier: Apache-2.0
/// A parallel counting sort of rows: what every format that groups rows by a small number starts with. Internal.
#pragma once

#include <algorithm>
#include <vector>

#include <newel/core/array.hpp>
#include <newel/core/parallel.hpp>

namespace newel::detail {

/// The numbers 0 .. n-1, bucket by bucket, in every bucket in the order in which they were handed in.
struct Buckets {
  std::vector<Offset> begin;         ///< buckets + 1
  Array<Index, Space::host> member;  ///< n

  Offset size(std::size_t bucket) const { return begin[bucket + 1] - begin[bucket]; }
};

/// Sorts `member` (null: the numbers 0 .. n-1) by bucket_of(member), in [0, buckets). The same result whatever the
/// number of threads. O(n + threads * buckets) time.
template <class BucketOf>
Buckets stable_buckets(const Context<Space::host>& ctx, Index n, std::size_t buckets, BucketOf&& bucket_of,
                       const Index* member = nullptr) {
  const auto threads = static_cast<std::size_t>(std::max(1, std::min(ctx.threads(), n / 4096 + 1)));
  const auto count = static_cast<int>(threads);
  Buckets result{std::vector<Offset>(buckets + 1, 0), Array<Index, Space::host>(ctx, n)};
  std::vector<std::vector<Offset>> place(threads, std::vector<Offset>(buckets, 0));  // counts, then where to write
  const auto bounds = [&](int share) { return static_cast<Index>(Offset{n} * share / count); };
  const auto nth = [&](Index k) { return member == nullptr ? k : member[k]; };
  parallel_tasks(ctx, count, [&](int share) {
    std::vector<Offset>& mine = place[static_cast<std::size_t>(share)];
    for (Index k = bounds(share); k < bounds(share + 1); ++k) ++mine[static_cast<std::size_t>(bucket_of(nth(k)))];
  });
  Offset next = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    result.begin[bucket] = next;
    for (std::vector<Offset>& of_share : place) {
      const Offset counted = of_share[bucket];
      of_share[bucket] = next;
      next += counted;
    }
  }
  result.begin[buckets] = next;
  parallel_tasks(ctx, count, [&](int share) {
    std::vector<Offset>& mine = place[static_cast<std::size_t>(share)];
    for (Index k = bounds(share); k < bounds(share + 1); ++k) {
      const Index i = nth(k);
      result.member[mine[static_cast<std::size_t>(bucket_of(i))]++] = i;
    }
  });
  return result;
}

/// The numbers 0 .. n-1 in the order of key(number), from 0 to `largest`; equal ones as in `member` (empty:
/// ascending). Radix sort, 11 bits at a time.
template <class Key>
Array<Index, Space::host> stable_order(const Context<Space::host>& ctx, Index n, Offset largest, Key&& key,
                                       Array<Index, Space::host> member = {}) {
  constexpr int bits = 11;
  int shift = 0;
  do {
    const auto digit = [&](Index i) { return static_cast<std::size_t>(key(i) >> shift) & ((1u << bits) - 1); };
    member = stable_buckets(ctx, n, std::size_t{1} << bits, digit, member.empty() ? nullptr : member.data()).member;
    shift += bits;
  } while (largest >> shift > 0);
  return member;
}

}  // namespace newel::detail
