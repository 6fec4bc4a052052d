// SPDX-License-Identifier: Apache-2.0
/// What the product kernels of all formats share: loads that do not disturb the caches, and the sum x.y. Internal.
#pragma once

#include "core/vectors/vector_step_device.cuh"
#include "spmv/product.hpp"

namespace newel::detail {

/// A value that is read once per product: it passes the caches by, which belong to x.
template <class V>
__device__ __forceinline__ V load_once(const V* p) {
  return __ldcs(p);
}

/// An entry of x, or an index that several warps read.
template <class V>
__device__ __forceinline__ V load_cached(const V* p) {
  return __ldg(p);
}

/// The sum of `value` over the warp by shuffles, in a fixed order; valid in all lanes.
template <class T>
__device__ __forceinline__ T warp_sum(T value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  return value;
}

/// Ends a kernel that forms x.y: every thread of every block calls it with what its own rows gave. Blocks leave their
/// sums in `partial` (one a block, in the operator's memory); the block that finishes last adds them in block order.
/// At most 1024 threads a block. `tickets` is the context's counter, 0 between kernels.
__device__ __forceinline__ void finish_dot(double mine, double* partial, unsigned* tickets, double* xy) {
  __shared__ double scratch[32];
  const double total = block_sum(mine, scratch);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
  if (!last_block(tickets)) return;
  double sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += __ldcg(partial + b);
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) *xy = sum;
}

}  // namespace newel::detail
