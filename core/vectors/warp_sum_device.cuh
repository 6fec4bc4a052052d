// SPDX-License-Identifier: Apache-2.0
/// warp_sum: the sum of a number of each lane of a warp, by the matrix units of the GPU. Internal.
#pragma once

#include "core/vectors/warp_device.cuh"

namespace newel::detail {

/// D = A B of an 8 x 4 and a 4 x 8 matrix: a is A(lane / 4, lane % 4) and b is B(lane % 4, lane / 4). A lane gets
/// D(lane / 4, 2 (lane % 4)) and the next entry of that row.
__device__ __forceinline__ void multiply_in_warp(double a, double b, double& even, double& odd) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(even), "=d"(odd)
               : "d"(a), "d"(b), "d"(0.0), "d"(0.0));
}

/// The sum of all lanes, for each of them, in a fixed order. Two products with ones take the place of five exchanges,
/// which would go through shared memory's data path.
__device__ __forceinline__ double warp_sum(double value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
  for (int apart = warp / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
  return value;
#else
  double even, odd, sum, same;
  multiply_in_warp(1.0, value, even, odd);  // the sums of lanes 8 (lane % 4) .. + 3, and of the four after them
  multiply_in_warp(even + odd, 1.0, sum, same);
  return sum;
#endif
}

}  // namespace newel::detail
