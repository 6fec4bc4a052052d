// SPDX-License-Identifier: Apache-2.0
// EHYB on the host with k vectors at once: the parts, slices and sums of a product with one, the cache k times as
// wide.
#include <algorithm>
#include <cstring>

#include <newel/core/parallel.hpp>
#include "spmv/column_lanes_host.hpp"
#include "spmv/ehyb/ehyb_columns.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

// The caller's work, taken apart: doubles first.
template <class T, int k>
struct ColumnWork {
  double* part_dot;  // k for each part
  T* cache;          // k longest_cache for each thread
  T* segment_sum;    // k for each segment

  ColumnWork(const EhybView<T>& a, char* work) {
    part_dot = reinterpret_cast<double*>(work);
    cache = reinterpret_cast<T*>(part_dot + Offset{a.parts} * k);
    segment_sum = cache + Offset{a.caches.longest} * a.caches.threads * k;
  }
};

// The part's entries of x: its own range where it reads no other, else a copy with the halo behind.
template <class T, int B, int k>
const T* cached_columns(const EhybView<T>& a, const EhybPart& part, const T* x, T* cache) {
  const T* own = x + Offset{part.node_begin} * B * k;
  if (part.halo_begin == part.halo_end) return own;
  const Offset own_entries = Offset{part.node_end - part.node_begin} * B * k;
  std::memcpy(cache, own, static_cast<std::size_t>(own_entries) * sizeof(T));
  T* to = cache + own_entries;
  for (Index h = part.halo_begin; h < part.halo_end; ++h, to += B * k) {
    std::memcpy(to, x + Offset{a.halo_node[h]} * B * k, sizeof(T) * B * k);
  }
  return cache;
}

// As many nodes side by side as keep the additions of one from waiting for each other, and their sums in registers.
template <int B, int k>
constexpr int nodes_together = B* k >= 32   ? 1
                               : B* k >= 16 ? 2
                               : B* k >= 8  ? 4
                                            : 8;

// sums = the rows of nodes first .. first + count - 1 of a slice, node by node.
template <class T, int B, int k, int count>
inline void node_sums(const EhybView<T>& a, Index slice, int first, const T* xs, T* sums) {
  ColumnLanes<T, k> sum[count][B];
  const Offset begin = a.slice_first[slice], end = a.slice_first[slice + 1];
  for (Offset j = begin; j < end; ++j) {
    const std::uint16_t* const column = a.column + j * host_lanes + first;
    const T* const value = a.value + j * host_lanes * B * B + first;
    for (int e = 0; e < B; ++e) {
      for (int node = 0; node < count; ++node) {
        const T* const from = xs + (Offset{column[node]} * B + e) * k;
        for (int d = 0; d < B; ++d) sum[node][d].add_product(value[(d * B + e) * host_lanes + node], from);
      }
    }
  }
  for (int node = 0; node < count; ++node) {
    for (int d = 0; d < B; ++d) sum[node][d].store(sums + (node * B + d) * k);
  }
}

template <class T, int B, int k>
void part_product(const EhybView<T>& a, const EhybPart& part, const ColumnProductArgs<T>& args, T* cache,
                  double* part_dot) {
  constexpr int together = nodes_together<B, k>;
  const T* const xs = cached_columns<T, B, k>(a, part, args.x, cache);
  ColumnDots<k> dot;
  for (Index s = part.slice_begin; s < part.slice_end; ++s) {
    const Index first = part.node_begin + (s - part.slice_begin) * host_lanes;
    const int nodes = std::min<Index>(host_lanes, part.node_end - first);
    for (int node = 0; node < nodes; node += together) {
      T sums[together * B * k];
      node_sums<T, B, k, together>(a, s, node, xs, sums);
      const int rows = std::min(together, nodes - node) * B;
      const Offset at = (Offset{first} + node) * B * k;
      for (int row = 0; row < rows; ++row) {
        T* const sum = sums + row * k;
        for (int c = 0; c < k; ++c) sum[c] = row_result(args, sum[c], at + row * k + c);
        std::memcpy(args.y + at + row * k, sum, sizeof(T) * k);
        if (args.xy != nullptr) dot.add_products(args.x + at + row * k, sum);
      }
    }
  }
  dot.store(part_dot);
}

template <class T, int B, int k>
void parts_product(const Context<Space::host>& ctx, const EhybView<T>& a, const ColumnProductArgs<T>& args) {
  const ColumnWork<T, k> work(a, args.work);
  const Offset slots = Offset{a.slice_first[a.part[a.parts - 1].slice_end]} * host_lanes * B * B;
  const bool parallel = a.parts > 1 && (slots + a.rows) * k >= least_parallel_work;
  const auto one_part = [&](Index p, int member) {
    T* const cache = work.cache + Offset{a.caches.longest} * k * member;
    with_wide_vectors([&] { part_product<T, B, k>(a, a.part[p], args, cache, work.part_dot + Offset{p} * k); });
  };
  parallel_tasks(ctx, a.parts, one_part, parallel ? a.caches.threads : 1);
  for (int c = 0; c < k && args.xy != nullptr; ++c) {
    double total = 0;
    for (Index p = 0; p < a.parts; ++p) total += work.part_dot[Offset{p} * k + c];
    args.xy[c] = total;
  }
}

// As for one vector, without FMA.
template <class T, int k>
void add_extra_rows(const Context<Space::host>& ctx, const EhybView<T>& a, const ColumnProductArgs<T>& args) {
  const bool parallel = Offset{a.extra.slice_first[a.extra.slices]} * host_lanes * k >= least_parallel_work;
  const auto one_slice = [&](Index s) {
    const Index first = s * host_lanes;
    for (Index i = first; i < std::min(a.extra.rows, first + host_lanes); ++i) {
      ColumnLanes<T, k> sum;
      for (Offset j = a.extra.slice_first[s]; j < a.extra.slice_first[s + 1]; ++j) {
        const Offset slot = j * host_lanes + (i - first);
        sum.add_product(a.extra.value[slot], args.x + Offset{a.extra.column[slot]} * k);
      }
      T sums[k];
      sum.store(sums);
      T* const y = args.y + Offset{a.extra.row[i]} * k;
      for (int c = 0; c < k; ++c) y[c] += args.alpha * sums[c];
    }
  };
  parallel_blocks(ctx, a.extra.slices, 64, one_slice, threads_if(parallel));
}

template <class T, int k>
void add_long_rows(const Context<Space::host>& ctx, const EhybView<T>& a, const ColumnProductArgs<T>& args) {
  T* const segment_sum = ColumnWork<T, k>(a, args.work).segment_sum;
  const bool parallel = a.longs.segment_begin[a.longs.segments] * k >= least_parallel_work;
  parallel_for(
      ctx, a.longs.segments,
      [&](Index s) {
        ColumnLanes<T, k> sum[host_lanes];
        const Offset begin = a.longs.segment_begin[s], end = a.longs.segment_begin[s + 1];
        for (Offset j = begin; j < end; ++j) {
          sum[(j - begin) % host_lanes].add_product(a.longs.value[j], args.x + Offset{a.longs.column[j]} * k);
        }
        ColumnLanes<T, k> total;
        for (const auto& of_lane : sum) total.add(of_lane);
        total.store(segment_sum + Offset{s} * k);
      },
      parallel ? 1 : a.longs.segments);
  for (Index i = 0; i < a.longs.rows; ++i) {
    for (int c = 0; c < k; ++c) {
      T total = 0;
      for (Index s = a.longs.segment[i]; s < a.longs.segment[i + 1]; ++s) total += segment_sum[Offset{s} * k + c];
      args.y[Offset{a.longs.row[i]} * k + c] += args.alpha * total;
    }
  }
}

template <class T, int k>
void product(const Context<Space::host>& ctx, const EhybView<T>& a, const ColumnProductArgs<T>& args) {
  switch (a.block) {
    case 6:
      parts_product<T, 6, k>(ctx, a, args);
      break;
    case 3:
      parts_product<T, 3, k>(ctx, a, args);
      break;
    case 2:
      parts_product<T, 2, k>(ctx, a, args);
      break;
    default:
      parts_product<T, 1, k>(ctx, a, args);
      break;
  }
  if (a.extra.rows > 0) add_extra_rows<T, k>(ctx, a, args);
  if (a.longs.rows > 0) add_long_rows<T, k>(ctx, a, args);
}

}  // namespace

template <class T>
std::uint64_t ehyb_column_work(const Context<Space::host>*, const EhybView<T>& a, int columns) {
  const auto numbers = static_cast<std::uint64_t>(Offset{a.caches.longest} * a.caches.threads + a.longs.segments);
  return static_cast<std::uint64_t>(columns) *
         (static_cast<std::uint64_t>(a.parts) * sizeof(double) + numbers * sizeof(T));
}

template <class T>
void ehyb_columns_product(const Context<Space::host>& ctx, const EhybView<T>& a, int columns,
                          const ColumnProductArgs<T>& args) {
  if (a.rows == 0) return;
  if (columns == 8) return product<T, 8>(ctx, a, args);
  if (columns == 4) return product<T, 4>(ctx, a, args);
  product<T, 2>(ctx, a, args);
}

#define NEWEL_EHYB_COLUMNS(T)                                                                    \
  template std::uint64_t ehyb_column_work(const Context<Space::host>*, const EhybView<T>&, int); \
  template void ehyb_columns_product(const Context<Space::host>&, const EhybView<T>&, int,       \
                                     const ColumnProductArgs<T>&);
NEWEL_EHYB_COLUMNS(double)
NEWEL_EHYB_COLUMNS(float)
#undef NEWEL_EHYB_COLUMNS

}  // namespace newel::detail
