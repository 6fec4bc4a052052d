// SPDX-License-Identifier: Apache-2.0
/// The speed of a device that the cost model is not fitted to. Internal.
#pragma once

#include <string>

#include <newel/core/machine.hpp>

namespace newel::detail {

/// What the cost model wants to know of a device beyond what the driver says of it.
struct MachineSpeed {
  double bytes_per_second = 0;  ///< of a copy, read and written
  double start_seconds = 0;     ///< from one small kernel of a captured graph to the next, which waits for it
};

/// Whether the cost model is fitted to the device: whether its name has a profile.
bool is_fitted(const Machine& machine);

/// Copies an eighth of a gigabyte, or less where there is no memory for it, four times on end, and starts 256 small
/// kernels; the best of four runs each, a few milliseconds in all. Zeros where there is no memory at all. Waits for
/// the stream. Throws DeviceError.
MachineSpeed measure_speed(const Context<Space::device>& ctx);

/// `machine_of` with a measured speed where the cost model is not fitted to the device. It is measured once in a
/// process, and where `plan_cache` names a folder it is kept there for those that follow, whose choices are then the
/// same. `as_unknown`: any device is taken for one that the cost model is not fitted to, and not measured before in
/// this process.
Machine measured_machine(const Context<Space::device>& ctx, const std::string& plan_cache, bool as_unknown = false);

}  // namespace newel::detail
