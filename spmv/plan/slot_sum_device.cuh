// SPDX-License-Identifier: Apache-2.0
/// The inner loop that the formats of padded slots share, and the second step of rows in pieces. Internal.
#pragma once

#include "spmv/product_device.cuh"
#include "spmv/row_pieces.hpp"

namespace newel::detail {

/// The sum of val[k] x[col[k]] over `count` slots `stride` apart. Values and columns of `batch` slots are loaded
/// before the first is used, so that a thread waits once per batch, twice over: for its slots and for its x. What is
/// left over goes in halves.
template <int batch, class T>
__device__ __forceinline__ T slot_sum(const T* val, const Index* col, const T* x, int stride, Index count) {
  T sum = 0;
  for (; count >= batch; count -= batch) {
    T v[batch];
    Index c[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      c[k] = load_once(col + static_cast<std::int64_t>(k) * stride);
      v[k] = load_once(val + static_cast<std::int64_t>(k) * stride);
    }
    T at[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) at[k] = load_cached(x + c[k]);
#pragma unroll
    for (int k = 0; k < batch; ++k) sum += v[k] * at[k];
    val += static_cast<std::int64_t>(batch) * stride;
    col += static_cast<std::int64_t>(batch) * stride;
  }
  if constexpr (batch > 1) {
    return sum + slot_sum<batch / 2>(val, col, x, stride, count);
  } else {
    return sum;
  }
}

/// Ends a kernel whose sum x.y a second kernel completes: the block's part goes to `partial`.
__device__ __forceinline__ void leave_dot(double mine, double* partial) {
  __shared__ double scratch[32];
  const double total = block_sum(mine, scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

struct JoinTuning {
  static constexpr int threads = 128;
  static constexpr int rows = threads / 32;  ///< a block: one a warp
};

/// A warp adds the pieces of a row in the order of its lanes, then by shuffles, and writes y. For x.y, the parts that
/// the blocks of the first kernel left at `partial` are shared out among the threads; this kernel's own follow them.
template <class T, bool dot>
__global__ void __launch_bounds__(JoinTuning::threads)
    join_kernel(const JoinView<T> join, const ProductArgs<T> args, unsigned first_blocks, double* partial,
                unsigned* tickets) {
  const Index j = static_cast<Index>(blockIdx.x) * JoinTuning::rows + static_cast<Index>(threadIdx.x / 32);
  double mine = 0;
  if (j < join.rows) {
    T sum = 0;
    const Index end = join.first[j + 1];
    for (Index piece = join.first[j] + static_cast<Index>(threadIdx.x % 32); piece < end; piece += 32) {
      sum += join.sums[piece];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) {
      const Index i = join.row[j];
      const T value = row_result(args, sum, i);
      args.y[i] = value;
      if constexpr (dot) mine = double(args.x[i]) * double(value);
    }
  }
  if constexpr (dot) {
    for (unsigned b = blockIdx.x * JoinTuning::threads + threadIdx.x; b < first_blocks;
         b += gridDim.x * JoinTuning::threads) {
      mine += partial[b];
    }
    finish_dot(mine, partial + first_blocks, tickets, args.xy);
  }
}

/// Launches it behind a first kernel of `first_blocks` blocks, where there are rows to join.
template <class T>
void launch_join(const Context<Space::device>& ctx, const JoinView<T>& join, const ProductArgs<T>& args,
                 unsigned first_blocks, double* partial) {
  if (join.rows == 0) return;
  const auto& state = ctx.state();
  const auto blocks = static_cast<unsigned>((join.rows + JoinTuning::rows - 1) / JoinTuning::rows);
  if (args.xy != nullptr) {
    join_kernel<T, true>
        <<<blocks, JoinTuning::threads, 0, state.stream()>>>(join, args, first_blocks, partial, state.tickets());
  } else {
    join_kernel<T, false>
        <<<blocks, JoinTuning::threads, 0, state.stream()>>>(join, args, first_blocks, partial, state.tickets());
  }
  NEWEL_CHECK_LAUNCH();
}

}  // namespace newel::detail
