// SPDX-License-Identifier: Apache-2.0
/// Machine: hardware properties of the host or a device that layouts and cost models use.
#pragma once

#include <cstddef>
#include <string>

#include <newel/core/context.hpp>

namespace newel {
namespace detail {

struct HostProfile;
struct DeviceProfile;

}  // namespace detail

/// Parallel processors, each with its own fast memory: a cache on the host, shared memory that a format fills on a
/// device.
struct Machine {
  Space space = Space::host;    ///< host or device
  std::string name = "host";    ///< of the device
  int processors = 1;           ///< threads of the context; multiprocessors of the device
  std::size_t cache_bytes = 0;  ///< per processor: second-level cache, or opt-in shared memory of a block
  int lanes = 8;                ///< rows processed together: vector lanes (8 doubles), or threads of a warp (32)
  int resident_threads = 1;     ///< per processor: 1, or 2048 on current devices
  /// Cache shared by all processors: second level of a device, last level of a host; 0: not known.
  std::size_t shared_cache_bytes = 0;

  /// Approximate memory bandwidth: for choices, not for reports.
  double bytes_per_second = 1e10;
  /// Launch time of a kernel, relative to the devices that the cost model was fitted to.
  double start_ratio = 1;
  /// Fitted constants of the host that computes setups, also if the processors are a device's; null: those of an
  /// EPYC.
  const detail::HostProfile* host_profile = nullptr;
  const detail::DeviceProfile* device_profile = nullptr;  ///< fitted constants of a device; null: those of an H200

  /// Whether it is a device.
  bool device() const { return space == Space::device; }
};

/// The machine of a context: its processors are the context's threads, or the device's multiprocessors. Queries the
/// system or the driver on every call.
Machine machine_of(const Context<Space::host>& ctx);
Machine machine_of(const Context<Space::device>& ctx);

}  // namespace newel
