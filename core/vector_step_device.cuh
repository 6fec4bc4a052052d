// SPDX-License-Identifier: Apache-2.0
/// How a vector step runs on the device: one kernel, whose last block adds the sums in a fixed order. Internal.
#pragma once

#include <purlin/core/context_device.hpp>
#include <purlin/core/vector_step.hpp>

namespace purlin::detail {

struct SweepTuning {
  static constexpr int threads = 256;
  static constexpr int blocks_per_multiprocessor = 8;  ///< 2048 threads: full occupancy for these light kernels
};

template <int count>
struct RegisterSums {
  double value[count > 0 ? count : 1] = {};
  __device__ __forceinline__ void add(int k, double v) { value[k] += v; }
};

/// The sum of `value` over the block, in a fixed order; valid in thread 0. `scratch` holds one double a warp.
__device__ __forceinline__ double block_sum(double value, double* scratch) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  __syncthreads();
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < static_cast<int>(blockDim.x) / 32 ? scratch[lane] : 0.0;
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  return value;
}

/// True in every thread of the block that arrives last of all blocks; what the others wrote before is then visible.
__device__ __forceinline__ bool last_block(unsigned* tickets) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    if (last) *tickets = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// A thread takes every (grid size)-th element; a block leaves one partial per sum; the block that finishes last
/// adds the partials in block order and runs the step's end.
template <class Step>
__global__ void __launch_bounds__(SweepTuning::threads)
    sweep_kernel(const Step step, std::int64_t n, double* partial, unsigned* tickets) {
  if (!step.active()) return;
  const auto coefficients = step.begin();
  RegisterSums<Step::sums> sums;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    step.element(i, coefficients, sums);
  }
  if constexpr (Step::sums > 0) {
    __shared__ double scratch[SweepTuning::threads / 32];
    for (int k = 0; k < Step::sums; ++k) {
      const double total = block_sum(sums.value[k], scratch);
      if (threadIdx.x == 0) partial[blockIdx.x * Step::sums + k] = total;
    }
    if (!last_block(tickets)) return;
    double totals[Step::sums];
    for (int k = 0; k < Step::sums; ++k) {
      double mine = 0;
      for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) mine += __ldcg(partial + b * Step::sums + k);
      totals[k] = block_sum(mine, scratch);
    }
    if (threadIdx.x == 0) step.end(totals);
  }
}

template <class Step>
void sweep(const Context<Space::device>& ctx, std::int64_t n, const Step& step) {
  if (n == 0 && Step::sums == 0) return;
  const auto& state = ctx.state();
  const std::int64_t wanted = (n + SweepTuning::threads - 1) / SweepTuning::threads;
  const std::int64_t most = std::int64_t{state.multiprocessors} * SweepTuning::blocks_per_multiprocessor;
  const auto blocks = static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
  sweep_kernel<<<blocks, SweepTuning::threads, 0, state.stream()>>>(step, n, state.partial(), state.tickets());
  PURLIN_CHECK_LAUNCH();
}

}  // namespace purlin::detail

/// Instantiates `sweep` for one step on the device.
#define PURLIN_SWEEP_DEVICE(...) \
  template void purlin::detail::sweep(const Context<Space::device>&, std::int64_t, const __VA_ARGS__&);
