// SPDX-License-Identifier: Apache-2.0
/// The inner loops that the formats of padded slots share on the host, and how their work is shared out. Internal.
#pragma once

#include <algorithm>
#include <type_traits>

#include <purlin/core/types.hpp>

namespace purlin::detail {

/// Rows side by side in a group of lanes.
constexpr Index host_lanes = 8;
/// Slots and rows for which waking the threads pays.
constexpr Offset least_parallel_work = 32768;
/// What an apply keeps on its stack, one part of x.y for each share of the work.
constexpr int most_host_shares = 256;

/// The sums of a full group of lanes, stored column by column: one row a lane, the sums in registers. In single
/// precision four lanes to a register take a third off the time of what g++ 12 makes of the plain loop (several
/// columns at once, sorted into lanes); in double, two to a register add a third to it.
template <class T>
inline void sum_lanes(const T* val, const Index* col, Offset width, const T* x, T* sum) {
  T s[host_lanes] = {};
  for (Offset k = 0; k < width; ++k, val += host_lanes, col += host_lanes) {
    if constexpr (std::is_same_v<T, float>) {
#pragma omp simd
      for (Index lane = 0; lane < host_lanes; ++lane) s[lane] += val[lane] * x[col[lane]];
    } else {
      for (Index lane = 0; lane < host_lanes; ++lane) s[lane] += val[lane] * x[col[lane]];
    }
  }
  std::copy_n(s, host_lanes, sum);
}

/// The sum over the slots [begin, end) of one row, in four interleaved sums.
template <class T>
inline T sum_run(const T* val, const Index* col, Offset begin, Offset end, const T* x) {
  T s[4] = {};
  Offset k = begin;
  for (; k + 4 <= end; k += 4) {
    for (int lane = 0; lane < 4; ++lane) s[lane] += val[k + lane] * x[col[k + lane]];
  }
  for (; k < end; ++k) s[0] += val[k] * x[col[k]];
  return (s[0] + s[1]) + (s[2] + s[3]);
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
