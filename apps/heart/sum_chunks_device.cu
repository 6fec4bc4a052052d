// SPDX-License-Identifier: Apache-2.0
// Sums of element numbers into slots, chunk by chunk through shared memory.
#include <cuda_pipeline.h>

#include <algorithm>

#include <purlin/core/context_device.hpp>
#include <purlin/core/machine.hpp>

#include "apps/heart/slot_sums.hpp"

namespace purlin::heart {
namespace {

struct SumTuning {
  static constexpr int threads = 512;
  static constexpr int resident = 3;           ///< blocks of a multiprocessor: some wait for elements, others add
  static constexpr std::int64_t slots = 5632;  ///< about 390 rows of 14.5: 45 KB, and 28 KB for their elements
  static constexpr std::int64_t least_slots = 128;
};

// A block is a chunk. Its elements' numbers come into shared memory all at once; then a warp adds up a group of 32
// items, a lane each, whose results go to their slots in shared memory; then the slots are written, in one piece. A
// list is walked in its order, whatever the chunk.
//
// Bytes, for a mesh of T tetrahedra per node (5.7), 1 + 2 G entries per row (G = 1.2 T edges per node) and chunks
// that hold the share p of mirrors (0.75) and an element s times (1.4), per node and matrix:
//   slots written                                 8 (1 + 2 G)
//   items: constant and places                   12 (1 + (2 - p) G)
//   lists, an edge being met by 6 T / G:          2 (4 T + 6 T (2 - p)), and up to 2 per item for pairs
//   numbers 8 s T, and others' places 4 (s - 1) T
// which is 116 + 115 + 132 + 10 + 73 = 446, where a list of 32 bits per slot, begin, count and constant come to 650
// with the numbers' gathers 32 bytes apiece on top. Sums per node alone: 8 + 4 + 8 T + 73 = 131.
__global__ void __launch_bounds__(SumTuning::threads, SumTuning::resident)
    sum_chunks_kernel(const SumPlanView plan, const double* __restrict__ per_element, double* __restrict__ slot) {
  extern __shared__ double chunk_numbers[];
  const SumChunk chunk = plan.chunk[blockIdx.x];
  const std::uint32_t elements = chunk.run + chunk.others;
  double* const number = chunk_numbers;
  double* const sum_of = chunk_numbers + elements + 1;
  for (std::uint32_t i = threadIdx.x; i < chunk.run; i += blockDim.x) {
    __pipeline_memcpy_async(number + i, per_element + chunk.first_run + i, sizeof(double));
  }
  for (std::uint32_t i = threadIdx.x; i < chunk.others; i += blockDim.x) {
    const Index element = plan.other[chunk.first_other + i];
    __pipeline_memcpy_async(number + chunk.run + i, per_element + element, sizeof(double));
  }
  if (threadIdx.x == 0) number[elements] = 0;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  const std::uint32_t lane = threadIdx.x % SumPlan::lanes, warps = blockDim.x / SumPlan::lanes;
  for (std::uint32_t g = threadIdx.x / SumPlan::lanes; g < chunk.groups; g += warps) {
    const std::uint32_t group = chunk.first_group + g;
    const std::uint32_t begin = plan.group_begin[group], pairs = plan.group_begin[group + 1] - begin;
    const std::size_t item = std::size_t{group} * SumPlan::lanes + lane;
    const ShortPair* const list = plan.list + std::size_t{begin} * SumPlan::lanes + lane;
    const ShortPair place = plan.place[item];
    double sum = plan.constant != nullptr ? plan.constant[item] : 0.0;
#pragma unroll 4
    for (std::uint32_t p = 0; p < pairs; ++p) {
      const ShortPair pair = list[p * SumPlan::lanes];
      sum += number[pair.first];
      sum += number[pair.second];
    }
    if (place.first == ShortPair::none) continue;
    sum_of[place.first] = sum;
    if (place.second != place.first) sum_of[place.second] = sum;
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < chunk.slots; i += blockDim.x) slot[chunk.first_slot + i] = sum_of[i];
}

}  // namespace

SumLimits sum_limits(const Context<Space::device>& ctx, std::int64_t slots) {
  const Machine machine = machine_of(ctx);
  // The card keeps 1 KB of each block's shared memory for itself.
  const auto numbers = static_cast<std::int64_t>(machine.cache_bytes / SumTuning::resident - 1024) / 8;
  SumLimits limits;
  limits.numbers = std::min<std::int64_t>(numbers, ShortPair::none);
  const std::int64_t even = slots / (std::int64_t{SumTuning::resident} * machine.processors) + 1;
  limits.slots = std::min(std::max(even, SumTuning::least_slots), SumTuning::slots);
  return limits;
}

void prepare_sum_chunks(const Context<Space::device>& ctx) {
  PURLIN_CHECK_CUDA(cudaFuncSetAttribute(sum_chunks_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(machine_of(ctx).cache_bytes)));
}

void sum_chunks(const Context<Space::device>& ctx, const SumPlanView& plan, const double* per_element, double* slot) {
  sum_chunks_kernel<<<plan.chunks, SumTuning::threads, plan.shared_bytes, ctx.state().stream()>>>(plan, per_element,
                                                                                                  slot);
  PURLIN_CHECK_LAUNCH();
}

}  // namespace purlin::heart
