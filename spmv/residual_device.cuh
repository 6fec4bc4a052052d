// SPDX-License-Identifier: Apache-2.0
/// How the rows of a format become a residual on the device: a thread a row, a warp a long row. Internal.
#pragma once

#include "spmv/product_device.cuh"
#include "spmv/residual.hpp"

namespace newel::detail {

struct ResidualTuning {
  static constexpr int threads = 256;
  static constexpr int blocks_per_multiprocessor = 4;
};

/// Minus the products of `count` slots with x.
template <class T, class ColumnOf>
__device__ __forceinline__ void subtract_products(const T* val, Offset stride, Offset count,
                                                  const ColumnOf& column_of, const T* x, TwiceSum& sum) {
#pragma unroll 4
  for (Offset k = 0; k < count; ++k) {
    sum.add_product(-static_cast<double>(val[k * stride]), static_cast<double>(load_cached(x + column_of(k))), -0.0);
  }
}

/// What a lane has of a row: minus its products.
template <class T, class Walk>
__device__ __forceinline__ Index lane_of_row(const Walk& walk, const ResidualArgs<T>& args, std::int64_t place,
                                             int member, int members, TwiceSum& sum) {
  const auto add = [&](const T* val, Offset stride, Offset count, const auto& column_of) {
    subtract_products(val, stride, count, column_of, args.x, sum);
  };
  return walk.row(place, member, members, add);
}

/// The sums of all lanes of a warp together, in lane 0.
__device__ __forceinline__ TwiceSum warp_merge(TwiceSum sum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const TwiceSum other{__shfl_down_sync(0xffffffffu, sum.hi, offset), __shfl_down_sync(0xffffffffu, sum.lo, offset),
                         __shfl_down_sync(0xffffffffu, sum.lost, offset),
                         __shfl_down_sync(0xffffffffu, sum.size, offset)};
    sum.merge(other);
  }
  return sum;
}

/// Numbers that a block leaves: the sums, then the largest.
inline constexpr int residual_numbers = 5;

/// Block after block leaves its sums at `partial`, `residual_numbers` each; the last one adds them in the order of
/// the blocks and leaves the result at `total`, and x_max after it. All threads of all blocks call it.
__device__ __forceinline__ void finish_residual(const ResidualSums& mine, double* partial, unsigned* tickets,
                                                double* total) {
  constexpr int sums = residual_numbers - 1;
  __shared__ double scratch[33 * sums];
  __shared__ double worst[32];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const auto of_block = [&](const ResidualSums& from, double* to) {
    const double value[sums] = {from.square, from.sum, from.error_sum, from.beyond_square};
    const double* const all = block_sums(value, scratch);
    double most = from.worst_row;
    for (int offset = 16; offset > 0; offset /= 2) most = fmax(most, __shfl_xor_sync(0xffffffffu, most, offset));
    if (lane == 0) worst[warp] = most;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned w = 1; w < blockDim.x / 32; ++w) most = fmax(most, worst[w]);
      for (int k = 0; k < sums; ++k) to[k] = all[k];
      to[sums] = most;
    }
  };
  of_block(mine, partial + blockIdx.x * residual_numbers);
  if (!last_block(tickets)) return;
  ResidualSums of_blocks;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    const double* const from = partial + b * residual_numbers;
    of_blocks.square += __ldcg(from);
    of_blocks.sum += __ldcg(from + 1);
    of_blocks.error_sum += __ldcg(from + 2);
    of_blocks.beyond_square += __ldcg(from + 3);
    of_blocks.worst_row = fmax(of_blocks.worst_row, __ldcg(from + 4));
  }
  of_block(of_blocks, total);
  if (threadIdx.x == 0) total[residual_numbers] = mine.x_max;
}

/// A thread takes a place at a time; the long rows among those of a warp are then shared by its lanes, one after the
/// other.
template <class T, class Walk>
__global__ void __launch_bounds__(ResidualTuning::threads)
    residual_kernel(const Walk walk, const ResidualArgs<T> args, double* partial, unsigned* tickets, double* total) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t places = walk.places(), stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  ResidualSums sums;
  sums.x_max = *args.scale.x_max;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x - lane; first < places;
       first += stride) {
    const std::int64_t place = first + lane;
    const bool is_long = place < places && walk.is_long(place);
    if (place < places && !is_long) {
      TwiceSum sum;
      const Index row = lane_of_row(walk, args, place, 0, 1, sum);
      finish_residual_row(args, row, sum, static_cast<double>(walk.entries(place)), sums);
    }
    for (unsigned left = __ballot_sync(0xffffffffu, is_long); left != 0; left &= left - 1) {
      const std::int64_t shared = first + __ffs(static_cast<int>(left)) - 1;
      TwiceSum sum;
      const Index row = lane_of_row(walk, args, shared, lane, 32, sum);
      sum = warp_merge(sum);
      if (lane == 0) finish_residual_row(args, row, sum, static_cast<double>(walk.entries(shared)), sums);
    }
  }
  finish_residual(sums, partial, tickets, total);
}

/// The sums at the front of the context's scratch; waits for the stream.
inline ResidualSums fetch_sums(const Context<Space::device>& ctx, const double* total) {
  constexpr int numbers = residual_numbers + 1;
  double of[numbers];
  copy<double>(ctx, Span<const double, Space::device>(total, numbers), Span<double, Space::host>(of, numbers));
  return {of[0], of[1], of[2], of[3], of[4], of[5]};
}

/// r = b - A x in twice the precision of double. Waits for the stream.
template <class T, class Walk>
ResidualSums residual_by(const Context<Space::device>& ctx, const Walk& walk, const ResidualArgs<T>& args) {
  if (walk.places() == 0) return {};
  const auto& state = ctx.state();
  const unsigned blocks =
      blocks_to_share(ctx, walk.places(), ResidualTuning::threads, ResidualTuning::blocks_per_multiprocessor);
  double* const total = state.partial() + std::int64_t{blocks} * residual_numbers;
  residual_kernel<<<blocks, ResidualTuning::threads, 0, state.stream()>>>(walk, args, state.partial(),
                                                                          state.tickets(), total);
  NEWEL_CHECK_LAUNCH();
  return fetch_sums(ctx, total);
}

}  // namespace newel::detail
