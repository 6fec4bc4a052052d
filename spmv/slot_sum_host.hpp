// SPDX-License-Identifier: Apache-2.0
/// The inner loops that the formats of padded slots share on the host, and how their work is shared out. Internal.
#pragma once

#include <algorithm>
#include <cstring>

#include <purlin/core/types.hpp>
#include <purlin/core/wide_host.hpp>
#include <purlin/spmv/prefetch_host.hpp>

namespace purlin::detail {

/// Rows side by side in a group of lanes.
constexpr Index host_lanes = 8;
/// Slots and rows for which waking the threads pays.
constexpr Offset least_parallel_work = 32768;
/// What an apply keeps on its stack, one part of x.y for each share of the work.
constexpr int most_host_shares = 256;

/// Numbers side by side, one a lane, in registers. What is gathered is loaded number by number: with the gather
/// instructions of AVX2 and AVX-512 a product on an EPYC takes almost twice as long.
template <class T, int lanes = host_lanes>
struct HostLanes {
  static constexpr int width = 16 / sizeof(T);
  static constexpr int parts = lanes / width;
  typedef T Vector __attribute__((vector_size(16)));
  Vector part[parts] = {};

  /// Lane l takes x[at(l)].
  template <class At>
  void gather(const T* x, At&& at) {
    for (int p = 0; p < parts; ++p) {
      const int l = p * width;
      if constexpr (width == 2) {
        part[p] = Vector{x[at(l)], x[at(l + 1)]};
      } else {
        part[p] = Vector{x[at(l)], x[at(l + 1)], x[at(l + 2)], x[at(l + 3)]};
      }
    }
  }

  /// Lane l adds val[l] times lane l of `factor`.
  void add_product(const T* val, const HostLanes& factor) {
    for (int p = 0; p < parts; ++p) {
      Vector v;
      std::memcpy(&v, val + p * width, sizeof v);
      part[p] += v * factor.part[p];
    }
  }

  void store(T* to) const { std::memcpy(to, part, sizeof part); }
};

/// The sums of a full group of lanes, stored column by column: one row a lane. With `prefetch`, x is prefetched.
template <bool prefetch = false, class T>
inline void sum_lanes(const T* val, const Index* col, Offset width, const T* x, T* sum) {
  HostLanes<T> s, from;
  for (Offset k = 0; k < width; ++k, val += host_lanes, col += host_lanes) {
    if constexpr (prefetch) {
      for (Index lane = 0; lane < host_lanes; ++lane) __builtin_prefetch(&x[col[lane + prefetch_ahead]]);
    }
    from.gather(x, [&](int lane) { return col[lane]; });
    s.add_product(val, from);
  }
  s.store(sum);
}

/// The sum over the slots [begin, end) of one row, in four interleaved sums: one chain of additions would wait for
/// itself. With `prefetch`, x is prefetched.
template <bool prefetch = false, class T>
inline T sum_run(const T* val, const Index* col, Offset begin, Offset end, const T* x) {
  constexpr int lanes = 4;
  HostLanes<T, lanes> s, from;
  const auto ask = [&](Offset k) {
    if constexpr (prefetch) __builtin_prefetch(&x[col[k + prefetch_ahead]]);
  };
  Offset k = begin;
  for (; k + lanes <= end; k += lanes) {
    for (int lane = 0; lane < lanes; ++lane) ask(k + lane);
    from.gather(x, [&](int lane) { return col[k + lane]; });
    s.add_product(val + k, from);
  }
  T sum[lanes];
  s.store(sum);
  for (int lane = 1; lane < lanes && k < end; ++lane, ++k) {
    ask(k);
    sum[0] += val[k] * x[col[k]];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Where share `share` of `shares` begins among `count` pieces of work: the first before which as much has been done
/// as the shares before are to do. `work_before` ascends; work_before(count) is all.
template <class WorkBefore>
Index cut_at(Index count, int share, int shares, WorkBefore&& work_before) {
  if (share == shares) return count;
  const Offset all = work_before(count);
  const Offset wanted = all / shares * share + all % shares * share / shares;
  Index low = 0, high = count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (work_before(middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace purlin::detail
