// SPDX-License-Identifier: Apache-2.0
/// The inner loops that the formats of padded slots share on the host, and how their work is shared out. Internal.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <newel/core/types.hpp>
#include "core/vectors/wide_host.hpp"
#include "spmv/prefetch_host.hpp"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define NEWEL_JOINS_VECTORS 1
#endif
#endif

namespace newel::detail {

/// Rows side by side in a group of lanes.
constexpr Index host_lanes = 8;
/// Slots and rows for which waking the threads pays.
constexpr Offset least_parallel_work = 32768;
/// What an apply keeps on its stack, one part of x.y for each share of the work.
constexpr int most_host_shares = 256;

/// Numbers side by side, one a lane, in registers. What is gathered is loaded number by number: with the gather
/// instructions of AVX2 and AVX-512 a product on an EPYC takes almost twice as long.
template <class T, int lanes = host_lanes, int bytes_of_register = 16>
struct HostLanes {
  static constexpr int width = bytes_of_register / sizeof(T);
  static constexpr int parts = lanes / width;
  typedef T Vector __attribute__((vector_size(bytes_of_register)));
  using Bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  typedef Bits BitVector __attribute__((vector_size(bytes_of_register)));
  Vector part[parts] = {};

  /// Lane l takes x[at(l)].
  template <class At>
  void gather(const T* x, At&& at) {
    for (int p = 0; p < parts; ++p) {
      const int l = p * width;
      if constexpr (width == 2) {
        part[p] = Vector{x[at(l)], x[at(l + 1)]};
      } else if constexpr (bytes_of_register == 16) {
        part[p] = Vector{x[at(l)], x[at(l + 1)], x[at(l + 2)], x[at(l + 3)]};
      } else {
#ifdef NEWEL_JOINS_VECTORS  // GCC 12 does not load a whole one well
        typedef T Half __attribute__((vector_size(bytes_of_register / 2)));
        part[p] = __builtin_shufflevector(Half{x[at(l)], x[at(l + 1)]}, Half{x[at(l + 2)], x[at(l + 3)]}, 0, 1, 2, 3);
#else
        part[p] = Vector{x[at(l)], x[at(l + 1)], x[at(l + 2)], x[at(l + 3)]};
#endif
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

  /// Likewise where the values of the lanes before `first` count as 0.
  void add_product_from(int first, const T* val, const HostLanes& factor) {
    static constexpr std::array<Bits, 2 * lanes> kept = ones_behind_zeros();
    for (int p = 0; p < parts; ++p) {
      BitVector v, mask;
      std::memcpy(&v, val + p * width, sizeof v);
      std::memcpy(&mask, &kept[lanes - first + p * width], sizeof mask);
      part[p] += (Vector)(v & mask) * factor.part[p];
    }
  }

  void store(T* to) const { std::memcpy(to, part, sizeof part); }

  /// Of four lanes in one register: (lane 0 + lane 1) + (lane 2 + lane 3).
  T total() const {
    static_assert(lanes == 4 && parts == 1);
    return (part[0][0] + part[0][1]) + (part[0][2] + part[0][3]);
  }

 private:
  static constexpr std::array<Bits, 2 * lanes> ones_behind_zeros() {
    std::array<Bits, 2 * lanes> bits{};
    for (int l = lanes; l < 2 * lanes; ++l) bits[l] = -1;
    return bits;
  }
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

/// How sum_run takes the slots at the end of a row that do not fill a step: one by one, which is the least work where
/// the processor guesses the branch behind the last of them; or as a step over the last slots of the row, in which
/// those that were taken before count as 0. Where a guess is as good as none, the former takes up to twice as long
/// for a whole product (EPYC).
enum class RunEnd { one_by_one, step };
constexpr int run_lanes = 4;  ///< slots of a step

/// The sum over the slots [begin, end) of one row, in four interleaved sums: one chain of additions would wait for
/// itself. With `prefetch`, x is prefetched.
template <bool prefetch = false, RunEnd run_end = RunEnd::one_by_one, class T>
inline T sum_run(const T* val, const Index* col, Offset begin, Offset end, const T* x) {
  constexpr bool by_step = run_end == RunEnd::step;
  HostLanes<T, run_lanes, by_step ? run_lanes * sizeof(T) : 16> s, from;
  const auto gather = [&](Offset k) {
    if constexpr (prefetch) {
      for (int lane = 0; lane < run_lanes; ++lane) __builtin_prefetch(&x[col[k + lane + prefetch_ahead]]);
    }
    from.gather(x, [&](int lane) { return col[k + lane]; });
  };
  Offset k = begin;
  if constexpr (by_step) {
    if (end - begin >= run_lanes) {
      for (; k + run_lanes < end; k += run_lanes) {
        gather(k);
        s.add_product(val + k, from);
      }
      const Offset last = end - run_lanes;
      gather(last);
      s.add_product_from(static_cast<int>((begin - end) & (run_lanes - 1)), val + last, from);
      return s.total();
    }
  }
  for (; k + run_lanes <= end; k += run_lanes) {
    gather(k);
    s.add_product(val + k, from);
  }
  T sum[run_lanes];
  s.store(sum);
  for (int lane = 1; lane < run_lanes && k < end; ++lane, ++k) {
    if constexpr (prefetch) __builtin_prefetch(&x[col[k + prefetch_ahead]]);
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

}  // namespace newel::detail

#undef NEWEL_JOINS_VECTORS
