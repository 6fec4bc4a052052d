// SPDX-License-Identifier: Apache-2.0
/// Machine: what a format's layout may rely on, for the host or a device.
#pragma once

#include <cstddef>
#include <string>

#include <newel/core/context.hpp>

namespace newel {
namespace detail {

struct HostProfile;
struct DeviceProfile;

}  // namespace detail

/// Processors that work side by side, each with fast memory of its own that a format fills by itself (device) or
/// that fills itself (host).
struct Machine {
  Space space = Space::host;    ///< where the processors are
  std::string name = "host";    ///< of the device
  int processors = 1;           ///< threads of the context; multiprocessors of the device
  std::size_t cache_bytes = 0;  ///< of one of them: second-level cache; opt-in shared memory of a block
  int lanes = 8;                ///< rows side by side: vector lanes (8 doubles); threads of a warp (32)
  int resident_threads = 1;     ///< of one of them at the same time: 1; 2048 on current devices
  /// Cache that serves all of them: second level of a device, last level of a host; 0: not known.
  std::size_t shared_cache_bytes = 0;

  /// What its memory moves, roughly: for choices, not for reports.
  double bytes_per_second = 1e10;
  /// How long a kernel takes to start, over those devices that the cost model is fitted to.
  double start_ratio = 1;
  /// The constants of cost models fitted to a host, the one that plans where the processors are a device's; null:
  /// those of an EPYC.
  const detail::HostProfile* host_profile = nullptr;
  const detail::DeviceProfile* device_profile = nullptr;  ///< fitted to a device; null: those of an H200

  /// Whether it is a device.
  bool device() const { return space == Space::device; }
};

/// The machine that a context works on, with as many processors as the context has threads or the device has
/// multiprocessors. Made anew by every call; asks the system or the driver.
Machine machine_of(const Context<Space::host>& ctx);
Machine machine_of(const Context<Space::device>& ctx);

}  // namespace newel
