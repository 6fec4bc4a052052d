// SPDX-License-Identifier: Apache-2.0
// Sums of element values into slots, chunk by chunk through shared memory.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>

#include <newel/core/cuda_interop.hpp>
#include <newel/core/machine.hpp>

#include "apps/heart/slot_sums.hpp"

namespace newel::heart {
namespace {

struct SumTuning {
  static constexpr int threads = 768;
  static constexpr int resident = 2;  ///< blocks of a multiprocessor: one waits for elements, one adds
  static constexpr std::int64_t slots =
      5632;  ///< of a matrix: about 400 rows, 45 KB, and two values for 1.7 elements
  static constexpr std::int64_t nodes = 1024;
  static constexpr std::int64_t least_slots = 128;
};

// A chunk's values, of both kinds where there are two, into shared memory, all on their way at once.
template <bool two>
__device__ __forceinline__ void load_values(const SumPlanView& plan, const SumChunk& chunk, const double* first,
                                            const double* second, double* to_first, double* to_second) {
  const auto load = [&](std::uint32_t to, std::size_t element) {
    __pipeline_memcpy_async(to_first + to, first + element, sizeof(double));
    if (two) __pipeline_memcpy_async(to_second + to, second + element, sizeof(double));
  };
  for (std::uint32_t i = threadIdx.x; i < chunk.run; i += blockDim.x) load(i, std::size_t{chunk.first_run} + i);
  for (std::uint32_t i = threadIdx.x; i < chunk.others; i += blockDim.x) {
    load(chunk.run + i, static_cast<std::size_t>(plan.other[chunk.first_other + i]));
  }
  if (threadIdx.x == 0) {
    to_first[chunk.run + chunk.others] = 0;
    if (two) to_second[chunk.run + chunk.others] = 0;
  }
}

// f of every element of a lane's list, in its order. Four pairs are on their way at once: most lists have no more.
template <class F>
__device__ __forceinline__ void walk_list(const ShortPair* list, std::uint32_t pairs, F&& f) {
  constexpr std::uint32_t batch = 4;
  for (std::uint32_t p = 0; p < pairs; p += batch) {
    ShortPair pair[batch];
#pragma unroll
    for (std::uint32_t q = 0; q < batch; ++q) {
      if (p + q < pairs) pair[q] = list[(p + q) * SumPlan::lanes];
    }
#pragma unroll
    for (std::uint32_t q = 0; q < batch; ++q) {
      if (p + q < pairs) {
        f(pair[q].first);
        f(pair[q].second);
      }
    }
  }
}

// A block is a chunk. Its elements' values come into shared memory all at once; then a warp adds up a group of 32
// items, a lane each, whose results go to their slots in shared memory; then the slots are written, in one piece. A
// list is walked in its order, whatever the chunk, and once for both sums of a node. Warps draw their groups, the
// long ones of nodes first: who adds up a sum changes nothing in it.
//
// Bytes a node of EHYB's matrix, for 5.3 tetrahedra and 14 entries a node, counted in the plans of a heart of 60,000
// nodes with chunks of 5632 slots, where a sum serves 1.45 entries and a chunk's elements have 1.66 copies in all:
//   slots written                        115, padding with them
//   items: constants and places           78 + 39
//   lists                                127, of which 43 are the diagonal's
//   tangents of chunks, numbers of others 70 + 13
//   loads of chunks                       70, and 4 + 8 + 8 for a node's number, its sum and its diagonal entry
// 532 in all. Apart from the matrix the nodes would read their lists and constants again: 43 + 4 + 60 + 8 for the
// loads, 44 for the diagonal. Lists of 32 bits with begin, count and constant per slot, which this replaces, come to
// 650 for the matrix alone, and each number they gather is a sector of 32 bytes of the second-level cache.
template <bool with_nodes>
__global__ void __launch_bounds__(SumTuning::threads, SumTuning::resident)
    sum_chunks_kernel(const SumPlanView plan, const double* __restrict__ per_element, double* __restrict__ slot,
                      const NodeSums nodes) {
  extern __shared__ double chunk_values[];
  __shared__ std::uint32_t next_group;
  const SumChunk chunk = plan.chunk[blockIdx.x];
  const std::uint32_t values = chunk.run + chunk.others + 1;
  double* const value = chunk_values;
  double* const second = value + values;
  double* const sum_of = with_nodes ? second + values : second;
  load_values<with_nodes>(plan, chunk, per_element, nodes.per_element, value, second);
  const std::uint32_t lane = threadIdx.x % SumPlan::lanes;
  if (threadIdx.x == 0) next_group = blockDim.x / SumPlan::lanes;
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  const auto drawn = [&] {
    std::uint32_t g = 0;
    if (lane == 0) g = atomicAdd(&next_group, 1u);
    return __shfl_sync(0xffffffffu, g, 0);
  };
  for (std::uint32_t g = threadIdx.x / SumPlan::lanes; g < chunk.groups; g = drawn()) {
    const std::uint32_t group = chunk.first_group + g;
    const std::uint32_t begin = plan.group_begin[group], pairs = plan.group_begin[group + 1] - begin;
    const std::size_t item = std::size_t{group} * SumPlan::lanes + lane;
    const ShortPair* const list = plan.list + std::size_t{begin} * SumPlan::lanes + lane;
    const ShortPair place = plan.place[item];
    double sum = plan.constant != nullptr ? plan.constant[item] : 0.0;
    if (with_nodes && g < chunk.node_groups) {
      const Index node = plan.node[(std::size_t{chunk.first_node_group} + g) * SumPlan::lanes + lane];
      double node_sum = 0;
      walk_list(list, pairs, [&](std::uint16_t e) {
        sum += value[e];
        node_sum += second[e];
      });
      if (node >= 0) {
        nodes.sum[node] = node_sum;
        if (nodes.diagonal != nullptr) nodes.diagonal[node] = sum;
      }
    } else {
      walk_list(list, pairs, [&](std::uint16_t e) { sum += value[e]; });
    }
    if (place.first != ShortPair::none) {
      sum_of[place.first] = sum;
      if (place.second != place.first) sum_of[place.second] = sum;
    }
  }
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < chunk.slots; i += blockDim.x) slot[chunk.first_slot + i] = sum_of[i];
}

}  // namespace

SumLimits sum_limits(const Context<Space::device>& ctx, std::int64_t slots, bool constants) {
  const Machine machine = machine_of(ctx);
  // The device keeps 1 KB of each block's shared memory for itself.
  const auto values = static_cast<std::int64_t>(machine.cache_bytes / SumTuning::resident - 1024) / 8;
  SumLimits limits;
  limits.values = std::min<std::int64_t>(values, ShortPair::none);
  // As many chunks as fill the device a whole number of times.
  const std::int64_t most = constants ? SumTuning::slots : SumTuning::nodes;
  const std::int64_t side_by_side = std::int64_t{SumTuning::resident} * machine.processors;
  const std::int64_t times = (slots + side_by_side * most - 1) / (side_by_side * most);
  const std::int64_t even = times == 0 ? 1 : (slots + side_by_side * times - 1) / (side_by_side * times);
  limits.slots = std::max(even, SumTuning::least_slots);
  return limits;
}

void prepare_sum_chunks(const Context<Space::device>& ctx) {
  // All that a block may have, and never just what the next launch takes: the limit is the kernel's, and a smaller
  // one would fail a launch that another thread is about to make.
  int of_block = 0;
  check_cuda(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx.device()),
             "cudaDeviceGetAttribute");
  for (const auto kernel : {sum_chunks_kernel<false>, sum_chunks_kernel<true>}) {
    cudaFuncAttributes attributes;
    check_cuda(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    const int dynamic = of_block - static_cast<int>(attributes.sharedSizeBytes);
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic),
               "cudaFuncSetAttribute");
  }
}

void sum_chunks(const Context<Space::device>& ctx, const SumPlanView& plan, const double* per_element, double* slot,
                const NodeSums* nodes) {
  if (plan.chunks == 0) return;
  const auto stream = ctx.stream();
  if (nodes == nullptr) {
    sum_chunks_kernel<false>
        <<<plan.chunks, SumTuning::threads, plan.shared_bytes, stream>>>(plan, per_element, slot, NodeSums{});
  } else {
    sum_chunks_kernel<true>
        <<<plan.chunks, SumTuning::threads, plan.shared_bytes, stream>>>(plan, per_element, slot, *nodes);
  }
  check_cuda(cudaGetLastError(), "a kernel launch");
}

}  // namespace newel::heart
