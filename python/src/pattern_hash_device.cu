// SPDX-License-Identifier: Apache-2.0
// The sums of a pattern hash by a kernel, so that a pattern on the device need not come to the host.
#include <cuda_runtime.h>

#include <newel/core/array.hpp>
#include <newel/core/cuda_interop.hpp>

#include "pattern_hash.hpp"

namespace newel::python {
namespace {

// A thread adds the terms of every integer that is a whole grid further; a warp adds its threads' sums, and its first
// thread adds those to the result.
template <class I>
__global__ void sum_terms(const I* integers, std::int64_t size, unsigned long long* sums) {
  std::uint64_t first = 0, second = 0;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
    add_term(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(integers[i]), first, second);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    first += __shfl_down_sync(0xffffffffu, first, distance);
    second += __shfl_down_sync(0xffffffffu, second, distance);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sums, static_cast<unsigned long long>(first));
    atomicAdd(sums + 1, static_cast<unsigned long long>(second));
  }
}

template <class I>
void launch_sum(const Context<Space::device>& ctx, const void* data, std::int64_t size, unsigned long long* sums) {
  constexpr int threads = 256;
  const std::int64_t most = 8 * std::int64_t{ctx.multiprocessors()};
  const std::int64_t wanted = (size + threads - 1) / threads;
  const int blocks = static_cast<int>(wanted < most ? wanted : most);
  sum_terms<I><<<blocks, threads, 0, ctx.stream()>>>(static_cast<const I*>(data), size, sums);
  check_cuda(cudaGetLastError(), "a kernel launch");
}

}  // namespace

Hash sums_of(const Context<Space::device>& ctx, const IndexSpan<Space::device>& integers) {
  if (integers.size == 0) return {0, 0};
  Array<unsigned long long, Space::device> sums(ctx, 2);
  check_cuda(cudaMemsetAsync(sums.data(), 0, sums.bytes(), ctx.stream()), "cudaMemsetAsync");
  const void* const data = integers.data;
  switch (integers.kind) {
    case IndexKind::int32:
      launch_sum<std::int32_t>(ctx, data, integers.size, sums.data());
      break;
    case IndexKind::uint32:
      launch_sum<std::uint32_t>(ctx, data, integers.size, sums.data());
      break;
    case IndexKind::int64:
      launch_sum<std::int64_t>(ctx, data, integers.size, sums.data());
      break;
    case IndexKind::uint64:
      launch_sum<std::uint64_t>(ctx, data, integers.size, sums.data());
      break;
  }
  const std::vector<unsigned long long> result = to_vector(ctx, sums.cspan());
  return {result[0], result[1]};
}

}  // namespace newel::python
