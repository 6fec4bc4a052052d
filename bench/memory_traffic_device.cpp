// SPDX-License-Identifier: Apache-2.0
// Copies and writes on the device.
#include <cuda_runtime.h>

#include <algorithm>

#include "core/memory/context_device.hpp"

#include "memory_traffic.hpp"
#include "timer.hpp"

namespace newel::bench {

CopyBandwidth measure_copy(const Context<Space::device>& ctx, int repeats, std::uint64_t most_bytes) {
  CopyBandwidth result;
  result.bytes =
      std::min({std::uint64_t{4} << 30, ctx.memory()->available_bytes().value_or(UINT64_MAX) / 4, most_bytes});
  const auto size = static_cast<std::int64_t>(result.bytes);
  Array<char, Space::device> from(ctx, size), to(ctx, size);
  displace_caches(ctx, from.span());
  const Timer<Space::device> timer(ctx);
  const auto copy_once = [&] { copy<char>(ctx, from.cspan(), to.span()); };
  const Samples seconds = alternate({[&] { return timer.back_to_back(2, copy_once); }}, repeats).front();
  for (const double s : seconds) result.gigabytes_per_second.push_back(2e-9 * static_cast<double>(result.bytes) / s);
  return result;
}

std::uint64_t displacing_bytes(const Context<Space::device>& ctx, std::uint64_t most_bytes) {
  int second_level = 0;
  NEWEL_CHECK_CUDA(cudaDeviceGetAttribute(&second_level, cudaDevAttrL2CacheSize, ctx.device()));
  return std::min(2 * static_cast<std::uint64_t>(second_level), most_bytes);
}

void displace_caches(const Context<Space::device>& ctx, Span<char, Space::device> to) {
  if (to.size == 0) return;
  NEWEL_CHECK_CUDA(cudaMemsetAsync(to.data, 1, static_cast<std::size_t>(to.size), ctx.stream()));
}

}  // namespace newel::bench
