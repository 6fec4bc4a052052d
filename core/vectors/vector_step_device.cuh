// SPDX-License-Identifier: Apache-2.0
/// How a vector step runs on the device: one kernel, whose last block adds the sums in a fixed order. Internal.
#pragma once

#include <type_traits>

#include "core/memory/context_device.hpp"
#include "core/vectors/overlapped_launch_device.cuh"
#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// Steps of one element at a time have all threads that a multiprocessor can hold; those that are split have half of
/// them, in few blocks, whose sums are soon added, and several elements under way in each.
template <class Step>
struct SweepTuning {
  static constexpr int threads = is_split<Step> ? 512 : 256;
  static constexpr int blocks_per_multiprocessor = is_split<Step> ? 2 : 8;
  static constexpr int elements = 4;  ///< of a split step, under way in a thread
};

/// Elements first, first + stride, ... of a split step.
template <class Step, class Coefficients, class Sums>
__device__ __forceinline__ void run_split(const Step& step, const Coefficients& coefficients, std::int64_t first,
                                          std::int64_t stride, std::int64_t n, Sums& sums) {
  constexpr int elements = SweepTuning<Step>::elements;
  for (std::int64_t i = first; i < n; i += elements * stride) {
    typename Step::Loaded loaded[elements];
#pragma unroll
    for (int k = 0; k < elements; ++k) {
      if (i + k * stride < n) loaded[k] = step.load(i + k * stride);
    }
#pragma unroll
    for (int k = 0; k < elements; ++k) {
      if (i + k * stride < n) step.finish(i + k * stride, loaded[k], coefficients, sums);
    }
  }
}

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

/// The sums of `value[0]` to `value[count - 1]` over the block, each in a fixed order, visible to all threads: where
/// the pointer says, in `scratch`, which holds 33 doubles for each. A warp adds up one sum while others add up
/// theirs.
template <int count>
__device__ __forceinline__ const double* block_sums(const double (&value)[count], double* scratch) {
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  double mine[count];
#pragma unroll
  for (int k = 0; k < count; ++k) mine[k] = value[k];
  for (int offset = 16; offset > 0; offset /= 2) {
#pragma unroll
    for (int k = 0; k < count; ++k) mine[k] += __shfl_down_sync(0xffffffffu, mine[k], offset);
  }
  __syncthreads();
  if (lane == 0) {
#pragma unroll
    for (int k = 0; k < count; ++k) scratch[k * 32 + warp] = mine[k];
  }
  __syncthreads();
  for (int k = warp; k < count; k += warps) {
    double sum = lane < warps ? scratch[k * 32 + lane] : 0.0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) scratch[count * 32 + k] = sum;
  }
  __syncthreads();
  return scratch + count * 32;
}

/// True in every thread of the block that arrives last of `blocks`; what the others wrote before is then visible.
__device__ __forceinline__ bool last_block_of(unsigned blocks, unsigned* tickets) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(tickets, 1u) == blocks - 1;
    if (last) *tickets = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// The same of all blocks of the launch.
__device__ __forceinline__ bool last_block(unsigned* tickets) { return last_block_of(gridDim.x, tickets); }

/// Whether all threads of the last block end the step, by `end_together`.
template <class Step, class = void>
constexpr bool ends_together = false;
template <class Step>
constexpr bool ends_together<Step, std::void_t<decltype(&Step::end_together)>> = true;

/// A thread takes every (grid size)-th element; a block leaves one partial per sum; the block that finishes last
/// adds the partials in block order and runs the step's end.
template <class Step>
__global__ void __launch_bounds__(SweepTuning<Step>::threads,
                                  is_split<Step> ? SweepTuning<Step>::blocks_per_multiprocessor : 1)
    sweep_kernel(const Step step, std::int64_t n, double* partial, unsigned* tickets) {
  wait_for_earlier_work();
  if (!step.active()) return;
  const auto coefficients = step.begin();
  RegisterSums<Step::sums> sums;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if constexpr (is_split<Step>) {
    run_split(step, coefficients, first, stride, n, sums);
  } else {
    for (std::int64_t i = first; i < n; i += stride) step.element(i, coefficients, sums);
  }
  if constexpr (Step::sums > 0) {
    __shared__ double scratch[Step::sums * 33];
    const double* const mine = block_sums(sums.value, scratch);
    if (threadIdx.x < Step::sums) partial[blockIdx.x * Step::sums + threadIdx.x] = mine[threadIdx.x];
    if (!last_block(tickets)) return;
    RegisterSums<Step::sums> of_blocks;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
#pragma unroll
      for (int k = 0; k < Step::sums; ++k) of_blocks.add(k, __ldcg(partial + b * Step::sums + k));
    }
    const double* const totals = block_sums(of_blocks.value, scratch);
    if constexpr (ends_together<Step>) {
      step.end_together(totals);
    } else {
      if (threadIdx.x == 0) step.end(totals);
    }
  }
}

template <class Step>
void sweep(const Context<Space::device>& ctx, std::int64_t n, const Step& step) {
  if (n == 0 && Step::sums == 0) return;
  const auto& state = ctx.state();
  using Tuning = SweepTuning<Step>;
  const unsigned blocks = blocks_to_share(ctx, n, Tuning::threads, Tuning::blocks_per_multiprocessor);
  launch_overlapped(ctx, sweep_kernel<Step>, LaunchShape{blocks, Tuning::threads, 0}, step, n, state.partial(),
                    state.tickets());
}

}  // namespace newel::detail

/// Instantiates `sweep` for one step on the device.
#define NEWEL_SWEEP_DEVICE(...) \
  template void newel::detail::sweep(const Context<Space::device>&, std::int64_t, const __VA_ARGS__&);
