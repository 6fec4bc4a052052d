// SPDX-License-Identifier: Apache-2.0
// CUB's scan in place, a piece after the other.
#include "reorder/exclusive_sum.hpp"

#include <algorithm>

#include <cub/device/device_scan.cuh>

#include "core/memory/context_device.hpp"

namespace newel::detail {
namespace {

// The place that two pieces share: what it counts, and its sum.
struct Seam {
  Offset count, sum;
};

__global__ void keep_count_kernel(const Offset* shared, Seam* seam) { seam->count = *shared; }

// The next piece begins there, as if all that comes before were counted in it too.
__global__ void open_seam_kernel(Offset* shared, Seam* seam) {
  seam->sum = *shared;
  *shared += seam->count;
}

__global__ void close_seam_kernel(Offset* shared, const Seam* seam) { *shared = seam->sum; }

void scan(const Context<Space::device>& ctx, Offset* counts, std::int64_t n) {
  std::size_t bytes = 0;
  const auto run = [&](void* memory) {
    NEWEL_CHECK_CUDA(cub::DeviceScan::ExclusiveSum(memory, bytes, counts, counts, static_cast<int>(n), ctx.stream()));
  };
  run(nullptr);
  Array<unsigned char, Space::device> memory(ctx, static_cast<std::int64_t>(bytes));
  run(memory.data());
}

}  // namespace

void exclusive_sum(const Context<Space::device>& ctx, Array<Offset, Space::device>& counts, std::int64_t at_once) {
  const std::int64_t n = counts.size();
  Array<Seam, Space::device> seam(ctx, n > at_once ? 1 : 0);
  std::int64_t first = 0;
  for (bool more = n > 0; more;) {
    const std::int64_t last = std::min(n, first + at_once) - 1;
    more = last < n - 1;
    if (more) keep_count_kernel<<<1, 1, 0, ctx.stream()>>>(counts.data() + last, seam.data());
    scan(ctx, counts.data() + first, last + 1 - first);
    if (first > 0) close_seam_kernel<<<1, 1, 0, ctx.stream()>>>(counts.data() + first, seam.data());
    if (more) open_seam_kernel<<<1, 1, 0, ctx.stream()>>>(counts.data() + last, seam.data());
    NEWEL_CHECK_LAUNCH();
    first = last;
  }
}

}  // namespace newel::detail
