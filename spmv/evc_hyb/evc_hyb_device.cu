// SPDX-License-Identifier: Apache-2.0
// EVC-HYB on the device: Algorithm 1 with its two parts in one launch, the heaviest blocks first.
#include "spmv/evc_hyb/evc_hyb.hpp"
#include "spmv/evc_hyb/evc_hyb_walk.hpp"
#include "spmv/residual_device.cuh"
#include "spmv/plan/slot_sum_device.cuh"

namespace newel::detail {
namespace {

// The paper's block of 256 threads. Eight slots in flight instead of four, and fewer threads for them, were 9 %
// faster on an H200 for elasticity in double and 16 % slower for a 7-point grid.
struct EvcHybTuning {
  static constexpr int threads = evc_hyb_block_threads;
  static constexpr int warps = threads / 32;
  static constexpr int most_ranges = 129 + 9;  // row lengths 0 to 128; 1 to 256 threads a row
  static constexpr int batch = 4;
};
static_assert(EvcHybTuning::most_ranges <= EvcHybTuning::threads, "a thread looks at a range");

// What a block has to do: a range, and its number among the blocks of that range.
struct BlockWork {
  EvcHybRange range;
  Index end_place;
  Index block;
  bool ell;
};

// All threads look for the range of the block side by side (lines 12 to 22 of Listing 1).
template <class T>
__device__ __forceinline__ BlockWork find_work(const EvcHybView<T>& a, Index block) {
  __shared__ BlockWork work;
  const auto r = static_cast<Index>(threadIdx.x);
  if (r < a.ranges) {
    const EvcHybRange range = a.range[r], next = a.range[r + 1];
    if (block >= range.first_block && block < next.first_block) {
      work = {range, next.first_place, block - range.first_block, r < a.ell_ranges};
    }
  }
  __syncthreads();
  return work;
}

// Writes the sum of the row at a place; returns its part of x.y.
template <class T, bool dot>
__device__ __forceinline__ double write_place(const EvcHybView<T>& a, const ProductArgs<T>& args, Index place,
                                              T sum) {
  const Index i = a.row_list == nullptr ? place : load_once(a.row_list + place);
  const T value = row_result(args, sum, i);
  args.y[i] = value;
  return dot ? double(load_cached(args.x + i)) * double(value) : 0.0;
}

// Listing 1: a warp has `share` neighbouring groups of 32 rows, a thread one row of each, all of them at once, so
// that short rows have as many loads in flight as long ones. A group past the end repeats the last and is not
// written.
template <int share, class T, bool dot>
__device__ __forceinline__ double ell_rows(const EvcHybView<T>& a, const ProductArgs<T>& args,
                                           const BlockWork& work) {
  const Index lane = static_cast<Index>(threadIdx.x % 32), warp = static_cast<Index>(threadIdx.x / 32);
  const Index groups = (work.end_place - work.range.first_place) / 32;
  const Index first = (work.block * EvcHybTuning::warps + warp) * share;
  if (first >= groups) return 0;
  const Index length = work.range.length;
  T sum[share] = {};
  Offset slot[share];
#pragma unroll
  for (int q = 0; q < share; ++q) {
    const Index group = first + q < groups ? first + q : groups - 1;
    slot[q] = work.range.first_slot + (Offset{group} * length) * 32 + lane;
  }
  if constexpr (share == 1) {
    sum[0] = slot_sum<EvcHybTuning::batch>(a.val + slot[0], a.col + slot[0], args.x, 32, length);
  } else {
    const auto steps = [&](Index k, auto batch) {
      constexpr int count = decltype(batch)::value;
      T v[share * count];
      Index c[share * count];
#pragma unroll
      for (int s = 0; s < share * count; ++s) {
        const Offset at = slot[s % share] + (k + s / share) * 32;
        c[s] = load_once(a.col + at);
        v[s] = load_once(a.val + at);
      }
      T x[share * count];
#pragma unroll
      for (int s = 0; s < share * count; ++s) x[s] = load_cached(args.x + c[s]);
#pragma unroll
      for (int s = 0; s < share * count; ++s) sum[s % share] += v[s] * x[s];
    };
    Index k = 0;
    for (; k + 2 <= length; k += 2) steps(k, std::integral_constant<int, 2>());
    if (k < length) steps(k, std::integral_constant<int, 1>());
  }
  double mine = 0;
#pragma unroll
  for (int q = 0; q < share; ++q) {
    if (first + q < groups) {
      mine += write_place<T, dot>(a, args, work.range.first_place + (first + q) * 32 + lane, sum[q]);
    }
  }
  return mine;
}

// The sum of `value` over the `threads` threads of a row, a power of two that is the same in the whole block; valid
// in the first of them. Every thread of the block calls it once: no loop of unequal length around the barrier.
template <class T>
__device__ __forceinline__ T row_sum(T value, Index threads) {
  __shared__ T of_warp[EvcHybTuning::warps];
  for (Index offset = (threads < 32 ? threads : 32) / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  if (threads <= 32) return value;
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (static_cast<Index>(threadIdx.x) % threads != 0) return value;
  for (Index warp = 1; warp < threads / 32; ++warp) value += of_warp[static_cast<Index>(threadIdx.x) / 32 + warp];
  return value;
}

// The slots [begin, end) of a row by `threads` threads.
template <class T>
__device__ __forceinline__ T part_of_row(const T* val, const Index* col, const T* x, Offset begin, Offset end,
                                         Index threads) {
  begin += static_cast<Index>(threadIdx.x) % threads;
  const Index count = begin < end ? static_cast<Index>((end - begin + threads - 1) / threads) : 0;
  return slot_sum<EvcHybTuning::batch>(val + begin, col + begin, x, threads, count);
}

// Listing 2: `share` threads a row, one row each.
template <class T, bool dot>
__device__ __forceinline__ double csr_rows(const EvcHybView<T>& a, const ProductArgs<T>& args,
                                           const BlockWork& work) {
  const Index threads = work.range.share;
  const Offset place = work.range.first_place + Offset{work.block} * (EvcHybTuning::threads / threads) +
                       static_cast<Index>(threadIdx.x) / threads;
  const bool mine = place < work.end_place;
  T sum = 0;
  if (mine) {
    const Offset* slot = a.csr_slot + (place - a.split);
    sum = part_of_row(a.val, a.col, args.x, slot[0], slot[1], threads);
  }
  sum = row_sum(sum, threads);
  if (!mine || static_cast<Index>(threadIdx.x) % threads != 0) return 0;
  return write_place<T, dot>(a, args, static_cast<Index>(place), sum);
}

// A piece of a row that several blocks share: its sum waits for the second step.
template <class T>
__device__ __forceinline__ void piece_of_row(const EvcHybView<T>& a, const ProductArgs<T>& args, Index piece) {
  const T sum = row_sum(part_of_row(a.piece_val, a.piece_col, args.x, a.piece_slot[piece], a.piece_slot[piece + 1],
                                    Index{EvcHybTuning::threads}),
                        Index{EvcHybTuning::threads});
  if (threadIdx.x == 0) a.join.sums[piece] = sum;
}

// Blocks are numbered from the shortest rows to the longest and taken the other way round, so that the ones that take
// longest are not the last to begin.
template <class T, bool dot>
__global__ void __launch_bounds__(EvcHybTuning::threads)
    evc_hyb_kernel(const EvcHybView<T> a, const ProductArgs<T> args, unsigned* tickets) {
  const unsigned block = gridDim.x - 1 - blockIdx.x;
  double mine = 0;
  if (block >= a.range_blocks) {
    piece_of_row(a, args, static_cast<Index>(block - a.range_blocks));
  } else {
    const BlockWork work = find_work(a, static_cast<Index>(block));
    if (!work.ell) {
      mine = csr_rows<T, dot>(a, args, work);
    } else if (work.range.share == 1) {
      mine = ell_rows<1, T, dot>(a, args, work);
    } else if (work.range.share == 2) {
      mine = ell_rows<2, T, dot>(a, args, work);
    } else {
      mine = ell_rows<4, T, dot>(a, args, work);
    }
  }
  if constexpr (dot) {
    if (a.join.rows > 0) {
      leave_dot(mine, a.partial);
    } else {
      finish_dot(mine, a.partial, tickets, args.xy);
    }
  }
}

}  // namespace

template <class T>
void evc_hyb_product(const Context<Space::device>& ctx, const EvcHybView<T>& a, const ProductArgs<T>& args) {
  const unsigned blocks = a.range_blocks + static_cast<unsigned>(a.pieces);
  if (blocks == 0) return;
  const auto& state = ctx.state();
  if (args.xy != nullptr) {
    evc_hyb_kernel<T, true><<<blocks, EvcHybTuning::threads, 0, state.stream()>>>(a, args, state.tickets());
  } else {
    evc_hyb_kernel<T, false><<<blocks, EvcHybTuning::threads, 0, state.stream()>>>(a, args, state.tickets());
  }
  NEWEL_CHECK_LAUNCH();
  launch_join(ctx, a.join, args, blocks, a.partial);
}

template void evc_hyb_product(const Context<Space::device>&, const EvcHybView<double>&, const ProductArgs<double>&);
template void evc_hyb_product(const Context<Space::device>&, const EvcHybView<float>&, const ProductArgs<float>&);

template <class T>
ResidualSums evc_hyb_residual(const Context<Space::device>& ctx, const EvcHybView<T>& a,
                              const ResidualArgs<T>& args) {
  return residual_by(ctx, EvcHybWalk<T>{a, 32}, args);
}

template ResidualSums evc_hyb_residual(const Context<Space::device>&, const EvcHybView<double>&,
                                       const ResidualArgs<double>&);
template ResidualSums evc_hyb_residual(const Context<Space::device>&, const EvcHybView<float>&,
                                       const ResidualArgs<float>&);

}  // namespace newel::detail
