// SPDX-License-Identifier: Apache-2.0
// The sums of a hash by a kernel, so that arrays on a device need not come to the host.
#include <cuda_runtime.h>

#include <algorithm>

#include <newel/core/cuda_interop.hpp>
#include <newel/core/error.hpp>

#include "pattern_hash.hpp"

namespace newel::python {
namespace {

using Integers = IndexSpan<Space::device>;

constexpr int threads = 256, most_sums = 2 * static_cast<int>(DeviceSums::most);
constexpr std::int64_t most_blocks = 1024;  // of an array: as many as a large device runs at once

struct SummedArrays {
  Integers array[DeviceSums::most];
};

// What a thread adds: every integer that is a whole grid further.
template <class I>
__device__ __forceinline__ void add_terms(const I* integers, std::int64_t size, std::uint64_t& first,
                                          std::uint64_t& second) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size; i += step) {
    add_term(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(integers[i]), first, second);
  }
}

// Row y of the grid has an array. A warp adds its threads' sums, and its first thread adds those to `partial`. The
// last block writes the result and leaves zeros.
__global__ void __launch_bounds__(threads)
    sum_terms(const SummedArrays arrays, unsigned long long* partial, unsigned long long* result) {
  std::uint64_t first = 0, second = 0;
  const Integers& mine = arrays.array[blockIdx.y];
  switch (mine.kind) {
    case IndexKind::int32:
      add_terms(static_cast<const std::int32_t*>(mine.data), mine.size, first, second);
      break;
    case IndexKind::uint32:
      add_terms(static_cast<const std::uint32_t*>(mine.data), mine.size, first, second);
      break;
    case IndexKind::int64:
      add_terms(static_cast<const std::int64_t*>(mine.data), mine.size, first, second);
      break;
    case IndexKind::uint64:
      add_terms(static_cast<const std::uint64_t*>(mine.data), mine.size, first, second);
      break;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    first += __shfl_down_sync(0xffffffffu, first, distance);
    second += __shfl_down_sync(0xffffffffu, second, distance);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(partial + 2 * blockIdx.y, static_cast<unsigned long long>(first));
    atomicAdd(partial + 2 * blockIdx.y + 1, static_cast<unsigned long long>(second));
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x > 0) return;
  unsigned long long* const ended = partial + most_sums;
  if (atomicAdd(ended, 1ull) + 1 < static_cast<unsigned long long>(gridDim.x) * gridDim.y) return;
  __threadfence();
  for (int k = 0; k < most_sums; ++k) result[k] = atomicExch(partial + k, 0ull);
  *ended = 0;
}

}  // namespace

DeviceSums::DeviceSums() {
  constexpr std::size_t bytes = (most_sums + 1) * sizeof(unsigned long long);
  check_cuda(cudaMalloc(&partial_, bytes), "cudaMalloc");
  cudaError_t status = cudaMemset(partial_, 0, bytes);
  if (status == cudaSuccess) status = cudaMallocHost(&sums_, most_sums * sizeof *sums_);
  if (status != cudaSuccess) cudaFree(partial_);
  check_cuda(status, "cudaMallocHost");
}

DeviceSums::~DeviceSums() {
  cudaFree(partial_);
  cudaFreeHost(sums_);
}

std::vector<Hash> DeviceSums::of(CUstream_st* stream, const std::vector<Integers>& arrays) {
  if (arrays.empty()) return {};
  if (arrays.size() > most) throw InputError("sums of at most three arrays at once");
  SummedArrays given{};
  std::int64_t longest = 1;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    given.array[k] = arrays[k];
    longest = std::max(longest, arrays[k].size);
  }
  const std::int64_t blocks = std::min(most_blocks, (longest + threads - 1) / threads);
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(arrays.size()));
  sum_terms<<<grid, threads, 0, stream>>>(given, partial_, sums_);
  check_cuda(cudaGetLastError(), "a kernel launch");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::vector<Hash> result;
  for (std::size_t k = 0; k < arrays.size(); ++k) result.emplace_back(sums_[2 * k], sums_[2 * k + 1]);
  return result;
}

}  // namespace newel::python
