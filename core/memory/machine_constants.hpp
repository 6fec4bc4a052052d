// SPDX-License-Identifier: Apache-2.0
/// The fitted constants of a machine's profile: how cost models get at them. Internal.
#pragma once

#include <string>

#include <newel/core/machine.hpp>

namespace newel::detail {

/// What `machine_of` takes for the memory of a host.
struct HostMachineConstants {
  double thread_bytes_per_second = 0;  ///< that one thread draws from memory
  double threads_of_socket = 0;        ///< that it takes to have all that a usual socket has
};

/// What `machine_of` takes for the memory of a device, and what `start_ratio` compares with.
struct DeviceMachineConstants {
  double copy_share = 0;     ///< of the bandwidth that the driver tells, what a copy gets
  double start_seconds = 0;  ///< from one small kernel of a captured graph to the next, which waits for it
};

/// The constants of one kind that the profiles of `machine` have. A folder declares a struct of those that it reads,
/// for hosts and for devices: these two, and those of `spmv/cost/product_constants.hpp`,
/// `precond/precond_constants.hpp` and `solver/cost/profiles/iteration_constants.hpp`. Their values, and this
/// function, are in `solver/cost/profiles`. Where `machine` names no profile: an EPYC's, an H200's.
template <class Constants>
const Constants& constants_of(const Machine& machine);

/// The profile that was fitted to a device of that name; null: there is none.
const DeviceProfile* fitted_profile(const std::string& device_name);

}  // namespace newel::detail
