// SPDX-License-Identifier: Apache-2.0
/// How a loop over elements runs on the device: one kernel, whose warps add their counts up.
#pragma once

#include <cuda_runtime.h>

#include <newel/core/cuda_interop.hpp>

#include "apps/heart/element_loop.hpp"

namespace newel::heart::detail {

struct LoopTuning {
  static constexpr int threads = 256;
  static constexpr int blocks_per_multiprocessor = 8;
};

/// A thread takes every (grid size)-th element. A warp adds up what its threads have counted, which is mostly
/// nothing.
template <class Loop>
__global__ void __launch_bounds__(LoopTuning::threads) loop_kernel(const Loop loop, std::int64_t n) {
  const auto coefficients = loop.begin();
  Counts<Loop::counts> mine;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    loop.element(i, coefficients, mine);
  }
  for (int k = 0; k < Loop::counts; ++k) {
    double count = static_cast<double>(mine.of[k]);
    for (int offset = 16; offset > 0; offset /= 2) count += __shfl_down_sync(0xffffffffu, count, offset);
    if (threadIdx.x % 32 == 0 && count > 0) atomicAdd(loop.totals() + k, count);
  }
}

template <class Loop>
void for_elements(const Context<Space::device>& ctx, std::int64_t n, const Loop& loop) {
  if constexpr (Loop::counts > 0) {
    check_cuda(cudaMemsetAsync(loop.totals(), 0, Loop::counts * sizeof(double), ctx.stream()), "cudaMemsetAsync");
  }
  if (n == 0) return;
  const unsigned blocks = blocks_to_share(ctx, n, LoopTuning::threads, LoopTuning::blocks_per_multiprocessor);
  loop_kernel<<<blocks, LoopTuning::threads, 0, ctx.stream()>>>(loop, n);
  check_cuda(cudaGetLastError(), "a loop over elements");
}

}  // namespace newel::heart::detail

/// Instantiates `for_elements` for one loop on the device.
#define HEART_LOOP_DEVICE(...) \
  template void newel::heart::detail::for_elements(const Context<Space::device>&, std::int64_t, const __VA_ARGS__&);
