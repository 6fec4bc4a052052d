// SPDX-License-Identifier: Apache-2.0
// Sums of tiles, the sums of those before each tile, then the sums within each tile.
#include <purlin/reorder/exclusive_sum.hpp>

#include <purlin/core/context_device.hpp>

namespace purlin::detail {
namespace {

constexpr unsigned full_warp = 0xffffffffu;
constexpr int tile_threads = 256;
constexpr int warp_rounds = 8;  // of 32 counts
constexpr int warp_counts = 32 * warp_rounds;
constexpr int tile = tile_threads * warp_rounds;
constexpr int tiles_threads = 1024;  // of the one block that sums up the tiles

// The sum of the values of lanes 0 .. lane.
__device__ __forceinline__ Offset sum_up_to(int lane, Offset value) {
  for (int apart = 1; apart < 32; apart *= 2) {
    const Offset below = __shfl_up_sync(full_warp, value, apart);
    if (lane >= apart) value += below;
  }
  return value;
}

// The sum of the values of all threads before this one's warp; `total` becomes that of the block. `sums` has a place
// for each warp and may be used again at once.
template <int warps>
__device__ __forceinline__ Offset sum_before_warp(Offset warp_sum, Offset* sums, Offset& total) {
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  if (lane == 0) sums[warp] = warp_sum;
  __syncthreads();
  Offset before = 0;
  total = 0;
  for (int w = 0; w < warps; ++w) {
    if (w == warp) before = total;
    total += sums[w];
  }
  __syncthreads();
  return before;
}

// A block has a tile, a warp 256 counts of it that follow each other. Their sum goes to tile_sum; or, where that
// holds the sum before each tile, the counts are replaced by their begins.
template <bool replace>
__global__ void __launch_bounds__(tile_threads) sum_tiles_kernel(std::int64_t n, Offset* counts, Offset* tile_sum) {
  __shared__ Offset sums[tile_threads / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t first = std::int64_t{blockIdx.x} * tile + std::int64_t{threadIdx.x / 32} * warp_counts + lane;
  Offset begin[warp_rounds];  // within the warp
  Offset warp_sum = 0;
  for (int r = 0; r < warp_rounds; ++r) {
    const std::int64_t i = first + 32 * r;
    const Offset count = i < n ? counts[i] : 0;
    const Offset up_to = sum_up_to(lane, count);
    begin[r] = warp_sum + up_to - count;
    warp_sum += __shfl_sync(full_warp, up_to, 31);
  }
  Offset total;
  const Offset before = sum_before_warp<tile_threads / 32>(warp_sum, sums, total);
  if constexpr (replace) {
    const Offset tile_begin = tile_sum[blockIdx.x];
    for (int r = 0; r < warp_rounds; ++r) {
      const std::int64_t i = first + 32 * r;
      if (i < n) counts[i] = tile_begin + before + begin[r];
    }
  } else if (threadIdx.x == 0) {
    tile_sum[blockIdx.x] = total;
  }
}

// One block: the sum of each tile becomes that of the tiles before it.
__global__ void __launch_bounds__(tiles_threads) sum_before_tiles_kernel(std::int64_t tiles, Offset* tile_sum) {
  __shared__ Offset sums[tiles_threads / 32];
  const int lane = static_cast<int>(threadIdx.x % 32);
  Offset done = 0;
  for (std::int64_t first = 0; first < tiles; first += tiles_threads) {
    const std::int64_t i = first + threadIdx.x;
    const Offset count = i < tiles ? tile_sum[i] : 0;
    const Offset up_to = sum_up_to(lane, count);
    Offset total;
    const Offset before = sum_before_warp<tiles_threads / 32>(__shfl_sync(full_warp, up_to, 31), sums, total);
    if (i < tiles) tile_sum[i] = done + before + up_to - count;
    done += total;
  }
}

}  // namespace

void exclusive_sum(const Context<Space::device>& ctx, Array<Offset, Space::device>& counts) {
  const std::int64_t n = counts.size();
  if (n == 0) return;
  const std::int64_t tiles = (n + tile - 1) / tile;
  const cudaStream_t stream = ctx.state().stream();
  Array<Offset, Space::device> tile_sum(ctx, tiles);
  const auto blocks = static_cast<unsigned>(tiles);
  sum_tiles_kernel<false><<<blocks, tile_threads, 0, stream>>>(n, counts.data(), tile_sum.data());
  PURLIN_CHECK_LAUNCH();
  sum_before_tiles_kernel<<<1, tiles_threads, 0, stream>>>(tiles, tile_sum.data());
  PURLIN_CHECK_LAUNCH();
  sum_tiles_kernel<true><<<blocks, tile_threads, 0, stream>>>(n, counts.data(), tile_sum.data());
  PURLIN_CHECK_LAUNCH();
}

}  // namespace purlin::detail
