// SPDX-License-Identifier: Apache-2.0
// What a device offers to a layout.
#include <purlin/core/context_device.hpp>
#include <purlin/core/machine.hpp>

namespace purlin {

Machine machine_of(const Context<Space::device>& ctx) {
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    PURLIN_CHECK_CUDA(cudaDeviceGetAttribute(&value, which, ctx.device()));
    return value;
  };
  Machine machine;
  machine.space = Space::device;
  machine.name = ctx.device_name();
  // Two transfers a clock, and what a copy gets of them.
  constexpr double copy_share = 0.87;
  const double bits_per_second =
      2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth);
  if (bits_per_second > 0) machine.bytes_per_second = copy_share * bits_per_second / 8;
  machine.processors = ctx.multiprocessors();
  machine.cache_bytes = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  machine.lanes = attribute(cudaDevAttrWarpSize);
  machine.resident_threads = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  machine.shared_cache_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
  return machine;
}

}  // namespace purlin
