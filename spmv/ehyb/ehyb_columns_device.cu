// SPDX-License-Identifier: Apache-2.0
// EHYB on the device with k vectors at once: x is read through the caches, a lane sums k columns of its node's rows.
#include <algorithm>

#include "core/vectors/warp_device.cuh"
#include "spmv/column_product_device.cuh"
#include "spmv/ehyb/ehyb_columns.hpp"

namespace newel::detail {
namespace {

struct ColumnsTuning {
  static constexpr int threads = 256;
  static constexpr int warps = threads / warp;
  static constexpr int slices = 2;        ///< that a warp has to walk, at least, before a part is shared out further
  static constexpr int most_pieces = 16;  ///< blocks of a part
};

/// How many blocks share a part: its x is in nobody's shared memory, which would hold a k-th of what it holds for one
/// vector.
template <class T>
int pieces_of(const EhybView<T>& a) {
  const Offset lanes = Offset{a.rows} / a.block * a.share / std::max<Index>(a.parts, 1);
  const Offset slices = lanes / warp;
  return static_cast<int>(
      std::clamp<Offset>(slices / (ColumnsTuning::warps * ColumnsTuning::slices), 1, ColumnsTuning::most_pieces));
}

/// `pieces` blocks are a part; their warps take its slices in turn, a lane a node or its share of one, as in
/// `ehyb_parts`. A place's x is found by its number in the part: own nodes, then the halo's.
template <class T, int B, int k, bool with_dot>
__global__ void __launch_bounds__(ColumnsTuning::threads, B* k * sizeof(T) > 24 * 8 ? 1 : 2)
    ehyb_column_parts(const EhybView<T> a, const ColumnProductArgs<T> args, int pieces, double* partial,
                      unsigned* tickets) {
  const EhybPart part = a.part[blockIdx.x / pieces];
  const int lane = threadIdx.x % warp;
  const int own = part.node_end - part.node_begin;
  const Index stride = pieces * ColumnsTuning::warps;
  const Index first =
      part.slice_begin + static_cast<Index>(blockIdx.x % pieces * ColumnsTuning::warps + threadIdx.x / warp);
  double dot[k] = {};
  for (Index slice = first; slice < part.slice_end; slice += stride) {
    T sums[B][k] = {};
    const Index last = load_cached(a.slice_first + slice + 1);
#pragma unroll 2
    for (Index j = load_cached(a.slice_first + slice); j < last; ++j) {
      const int place = load_once(a.column + Offset{j} * warp + lane);
      const Index node =
          place < own ? part.node_begin + place : load_cached(a.halo_node + part.halo_begin + place - own);
      const T* const value = a.value + Offset{j} * (B * B * warp) + lane;
#pragma unroll
      for (int e = 0; e < B; ++e) {
        const ColumnValues<T, k> from = load_values<T, k>(args.x + (Offset{node} * B + e) * k);
#pragma unroll
        for (int d = 0; d < B; ++d) {
          const T v = load_once(value + (d * B + e) * warp);
#pragma unroll
          for (int c = 0; c < k; ++c) sums[d][c] += v * from.value[c];
        }
      }
    }
    for (int step = 1; step < a.share; step *= 2) {
#pragma unroll
      for (int d = 0; d < B; ++d) {
#pragma unroll
        for (int c = 0; c < k; ++c) sums[d][c] += __shfl_xor_sync(0xffffffffu, sums[d][c], step);
      }
    }
    const Index node = part.node_begin + ((slice - part.slice_begin) * warp + lane) / a.share;
    if (node >= part.node_end || (lane & (a.share - 1)) != 0) continue;
#pragma unroll
    for (int d = 0; d < B; ++d) {
      const Offset row = Offset{node} * B + d;
      write_row<T, k>(args, row, sums[d]);
      if constexpr (with_dot) {
        const ColumnValues<T, k> x = load_values<T, k>(args.x + row * k);
#pragma unroll
        for (int c = 0; c < k; ++c) dot[c] += double(x.value[c]) * double(sums[d][c]);
      }
    }
  }
  if constexpr (with_dot) finish_dots<k>(dot, partial, tickets, args.xy);
}

/// A warp takes a slice of extra rows and adds their sums to y, which the first kernel has written.
template <class T, int k>
__global__ void __launch_bounds__(ColumnsTuning::threads)
    ehyb_column_extra_rows(const EhybView<T> a, const ColumnProductArgs<T> args) {
  const Index slice = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (slice >= a.extra.slices) return;
  const int lane = threadIdx.x % warp;
  T sum[k] = {};
  for (Offset j = a.extra.slice_first[slice]; j < a.extra.slice_first[slice + 1]; ++j) {
    const Offset slot = j * warp + lane;
    const T v = load_once(a.extra.value + slot);
    const ColumnValues<T, k> from = load_values<T, k>(args.x + Offset{load_once(a.extra.column + slot)} * k);
#pragma unroll
    for (int c = 0; c < k; ++c) sum[c] += v * from.value[c];
  }
  const Offset i = Offset{slice} * warp + lane;
  if (i >= a.extra.rows) return;
#pragma unroll
  for (int c = 0; c < k; ++c) args.y[Offset{a.extra.row[i]} * k + c] += args.alpha * sum[c];
}

/// A warp sums a segment of a long row.
template <class T, int k>
__global__ void __launch_bounds__(ColumnsTuning::threads)
    ehyb_column_segments(const EhybView<T> a, const ColumnProductArgs<T> args, T* segment_sum) {
  const Index segment = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (segment >= a.longs.segments) return;
  const int lane = threadIdx.x % warp;
  T sum[k] = {};
  const Offset end = a.longs.segment_begin[segment + 1];
  for (Offset j = a.longs.segment_begin[segment] + lane; j < end; j += warp) {
    const T v = load_once(a.longs.value + j);
    const ColumnValues<T, k> from = load_values<T, k>(args.x + Offset{load_once(a.longs.column + j)} * k);
#pragma unroll
    for (int c = 0; c < k; ++c) sum[c] += v * from.value[c];
  }
#pragma unroll
  for (int c = 0; c < k; ++c) {
    const T total = warp_sum(sum[c]);
    if (lane == 0) segment_sum[Offset{segment} * k + c] = total;
  }
}

/// A thread adds the segments of one column of a long row, in order, to y.
template <class T, int k>
__global__ void __launch_bounds__(ColumnsTuning::threads)
    ehyb_column_long_rows(const EhybView<T> a, const ColumnProductArgs<T> args, const T* segment_sum) {
  const Offset at = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  const Offset i = at / k, c = at % k;
  if (i >= a.longs.rows) return;
  T sum = 0;
  for (Index s = a.longs.segment[i]; s < a.longs.segment[i + 1]; ++s) sum += segment_sum[Offset{s} * k + c];
  args.y[Offset{a.longs.row[i]} * k + c] += args.alpha * sum;
}

unsigned blocks_for(Offset threads) {
  return static_cast<unsigned>((threads + ColumnsTuning::threads - 1) / ColumnsTuning::threads);
}

template <class T, int B, int k>
void launch_parts(const Context<Space::device>& ctx, const EhybView<T>& a, const ColumnProductArgs<T>& args,
                  double* partial) {
  const auto& state = ctx.state();
  const int pieces = pieces_of(a);
  const auto blocks = static_cast<unsigned>(a.parts * pieces);
  if (args.xy != nullptr) {
    ehyb_column_parts<T, B, k, true>
        <<<blocks, ColumnsTuning::threads, 0, state.stream()>>>(a, args, pieces, partial, state.tickets());
  } else {
    ehyb_column_parts<T, B, k, false>
        <<<blocks, ColumnsTuning::threads, 0, state.stream()>>>(a, args, pieces, partial, state.tickets());
  }
  NEWEL_CHECK_LAUNCH();
}

template <class T, int k>
void product(const Context<Space::device>& ctx, const EhybView<T>& a, const ColumnProductArgs<T>& args) {
  constexpr int threads = ColumnsTuning::threads;
  const auto stream = ctx.state().stream();
  auto* const partial = reinterpret_cast<double*>(args.work);
  auto* const segment_sum = reinterpret_cast<T*>(partial + Offset{a.parts} * ColumnsTuning::most_pieces * k);
  switch (a.block) {
    case 6:
      launch_parts<T, 6, k>(ctx, a, args, partial);
      break;
    case 3:
      launch_parts<T, 3, k>(ctx, a, args, partial);
      break;
    case 2:
      launch_parts<T, 2, k>(ctx, a, args, partial);
      break;
    default:
      launch_parts<T, 1, k>(ctx, a, args, partial);
      break;
  }
  if (a.extra.rows > 0) {
    ehyb_column_extra_rows<T, k><<<blocks_for(Offset{a.extra.slices} * warp), threads, 0, stream>>>(a, args);
    NEWEL_CHECK_LAUNCH();
  }
  if (a.longs.rows > 0) {
    ehyb_column_segments<T, k>
        <<<blocks_for(Offset{a.longs.segments} * warp), threads, 0, stream>>>(a, args, segment_sum);
    NEWEL_CHECK_LAUNCH();
    ehyb_column_long_rows<T, k><<<blocks_for(Offset{a.longs.rows} * k), threads, 0, stream>>>(a, args, segment_sum);
    NEWEL_CHECK_LAUNCH();
  }
}

}  // namespace

template <class T>
std::uint64_t ehyb_column_work(const Context<Space::device>*, const EhybView<T>& a, int columns) {
  return static_cast<std::uint64_t>(columns) *
         (static_cast<std::uint64_t>(a.parts) * ColumnsTuning::most_pieces * sizeof(double) +
          static_cast<std::uint64_t>(a.longs.segments) * sizeof(T));
}

template <class T>
void ehyb_columns_product(const Context<Space::device>& ctx, const EhybView<T>& a, int columns,
                          const ColumnProductArgs<T>& args) {
  if (a.rows == 0) return;
  if (columns == 8) return product<T, 8>(ctx, a, args);
  if (columns == 4) return product<T, 4>(ctx, a, args);
  product<T, 2>(ctx, a, args);
}

#define NEWEL_EHYB_COLUMNS(T)                                                                      \
  template std::uint64_t ehyb_column_work(const Context<Space::device>*, const EhybView<T>&, int); \
  template void ehyb_columns_product(const Context<Space::device>&, const EhybView<T>&, int,       \
                                     const ColumnProductArgs<T>&);
NEWEL_EHYB_COLUMNS(double)
NEWEL_EHYB_COLUMNS(float)
#undef NEWEL_EHYB_COLUMNS

}  // namespace newel::detail
