// SPDX-License-Identifier: Apache-2.0
/// What kernels with k interleaved vectors share: k values at once, and k sums x.y. Internal.
#pragma once

#include "spmv/column_product.hpp"
#include "spmv/product_device.cuh"

namespace newel::detail {

/// k values, adjacent in a batch.
template <class T, int k>
struct alignas(k * sizeof(T) < 16 ? k * sizeof(T) : 16) ColumnValues {
  T value[k];
};

template <class T, int k>
__device__ __forceinline__ ColumnValues<T, k> load_values(const T* p) {
  ColumnValues<T, k> result;
  if constexpr (sizeof(T) == 8) {
#pragma unroll
    for (int i = 0; i < k / 2; ++i) {
      const double2 two = __ldg(reinterpret_cast<const double2*>(p) + i);
      result.value[2 * i] = two.x;
      result.value[2 * i + 1] = two.y;
    }
  } else if constexpr (k == 2) {
    const float2 two = __ldg(reinterpret_cast<const float2*>(p));
    result.value[0] = two.x;
    result.value[1] = two.y;
  } else {
#pragma unroll
    for (int i = 0; i < k / 4; ++i) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(p) + i);
      result.value[4 * i] = four.x;
      result.value[4 * i + 1] = four.y;
      result.value[4 * i + 2] = four.z;
      result.value[4 * i + 3] = four.w;
    }
  }
  return result;
}

/// The k values of a row are written, from what A x gave.
template <class T, int k>
__device__ __forceinline__ void write_row(const ColumnProductArgs<T>& args, Offset row, T (&sum)[k]) {
  ColumnValues<T, k> y;
#pragma unroll
  for (int c = 0; c < k; ++c) y.value[c] = sum[c] = row_result(args, sum[c], row * k + c);
  *reinterpret_cast<ColumnValues<T, k>*>(args.y + row * k) = y;
}

/// Ends a kernel that forms k sums x.y, as `finish_dot` does one; `partial` has k values for each block.
template <int k>
__device__ __forceinline__ void finish_dots(const double (&mine)[k], double* partial, unsigned* tickets, double* xy) {
  __shared__ double scratch[33 * k];
  const double* const totals = block_sums(mine, scratch);
  if (threadIdx.x < k) partial[Offset{blockIdx.x} * k + threadIdx.x] = totals[threadIdx.x];
  if (!last_block(tickets)) return;
  double sums[k] = {};
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
#pragma unroll
    for (int c = 0; c < k; ++c) sums[c] += __ldcg(partial + Offset{b} * k + c);
  }
  const double* const all = block_sums(sums, scratch);
  if (threadIdx.x < k) xy[threadIdx.x] = all[threadIdx.x];
}

}  // namespace newel::detail
