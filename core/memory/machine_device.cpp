// SPDX-License-Identifier: Apache-2.0
// What a device offers to a layout.
#include <map>
#include <mutex>

#include <newel/core/machine.hpp>
#include "core/memory/context_device.hpp"
#include "core/memory/machine_constants.hpp"

namespace newel {
namespace {

Machine machine_of_device(int device, const std::string& name) {
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    NEWEL_CHECK_CUDA(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  Machine machine;
  machine.space = Space::device;
  machine.name = name;
  machine.device_profile = detail::fitted_profile(name);
  const double copy_share = detail::constants_of<detail::DeviceMachineConstants>(machine).copy_share;
  // Two transfers a clock.
  const double bits_per_second =
      2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth);
  if (bits_per_second > 0) machine.bytes_per_second = copy_share * bits_per_second / 8;
  machine.processors = attribute(cudaDevAttrMultiProcessorCount);
  machine.cache_bytes = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  machine.lanes = attribute(cudaDevAttrWarpSize);
  machine.resident_threads = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  machine.shared_cache_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
  return machine;
}

}  // namespace

// The driver takes up to a millisecond for a clock rate, and a cost model asks for every candidate: once a process.
Machine machine_of(const Context<Space::device>& ctx) {
  static std::mutex mutex;
  static std::map<int, Machine> known;
  const std::lock_guard<std::mutex> lock(mutex);
  auto at = known.find(ctx.device());
  if (at == known.end()) {
    at = known.emplace(ctx.device(), machine_of_device(ctx.device(), ctx.device_name())).first;
  }
  return at->second;
}

}  // namespace newel
