// SPDX-License-Identifier: Apache-2.0
// The largest magnitude of a vector on the device.
#include <newel/core/vector_ops.hpp>
#include "core/vectors/rank_step_device.cuh"

namespace newel {
namespace {

constexpr int max_abs_threads = 256, max_abs_blocks = 8;

__device__ __forceinline__ double larger_magnitude(double most, double value) {
  return value <= most || most != most ? most : value;
}

/// The largest of the block's values, in thread 0.
__device__ __forceinline__ double block_max_abs(double most) {
  __shared__ double of_warp[max_abs_threads / 32];
  for (int offset = 16; offset > 0; offset /= 2)
    most = larger_magnitude(most, __shfl_down_sync(0xffffffffu, most, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = most;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < max_abs_threads / 32; ++w) most = larger_magnitude(most, of_warp[w]);
  }
  return most;
}

/// A block leaves its largest at `partial`; the last one takes the largest of them.
template <class T>
__global__ void __launch_bounds__(max_abs_threads)
    max_abs_kernel(const T* x, std::int64_t n, double* partial, unsigned* tickets, double* result) {
  double most = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    most = larger_magnitude(most, fabs(static_cast<double>(x[i])));
  }
  most = block_max_abs(most);
  if (threadIdx.x == 0) partial[blockIdx.x] = most;
  if (!detail::last_block(tickets)) return;
  most = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) most = larger_magnitude(most, __ldcg(partial + b));
  most = block_max_abs(most);
  if (threadIdx.x == 0) *result = most;
}

/// One thread: the largest of all ranks.
__global__ void max_over_ranks_kernel(const double* all, int ranks, double* result) {
  double most = all[0];
  for (int r = 1; r < ranks; ++r) most = larger_magnitude(most, all[r]);
  *result = most;
}

}  // namespace

template <class T>
void max_abs(const Context<Space::device>& ctx, Span<const T, Space::device> x, double* result) {
  const auto& state = ctx.state();
  const unsigned blocks = blocks_to_share(ctx, x.size, max_abs_threads, max_abs_blocks);
  max_abs_kernel<<<blocks, max_abs_threads, 0, state.stream()>>>(x.data, x.size, state.partial(), state.tickets(),
                                                                 result);
  NEWEL_CHECK_LAUNCH();
  detail::DeviceRanks* const ranks = detail::other_devices(ctx);
  if (ranks == nullptr) return;
  max_over_ranks_kernel<<<1, 1, 0, state.stream()>>>(ranks->all_gather(result, 1), ranks->size(), result);
  NEWEL_CHECK_LAUNCH();
}

template void max_abs(const Context<Space::device>&, Span<const double, Space::device>, double*);
template void max_abs(const Context<Space::device>&, Span<const float, Space::device>, double*);

}  // namespace newel
