// SPDX-License-Identifier: Apache-2.0
// What a card offers to a layout.
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
  machine.processors = ctx.multiprocessors();
  machine.cache_bytes = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  machine.lanes = attribute(cudaDevAttrWarpSize);
  machine.resident_threads = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  return machine;
}

}  // namespace purlin
