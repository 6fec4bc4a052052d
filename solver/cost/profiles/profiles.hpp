// SPDX-License-Identifier: Apache-2.0
/// The profiles: all constants of the cost models that were fitted to a machine, one file a machine. Internal.
#pragma once

#include "precond/precond_constants.hpp"
#include "solver/cost/profiles/host_speed_constants.hpp"
#include "solver/cost/profiles/iteration_constants.hpp"
#include "spmv/cost/product_constants.hpp"

namespace newel::detail {

/// Fitted to a host.
struct HostProfile {
  const char* name = "";
  HostMachineConstants machine;
  HostProductConstants products;
  HostPrecondConstants preconds;
  HostIterationConstants iterations;
  HostSpeed speed;  ///< what a measurement finds there
};

/// Fitted to a device.
struct DeviceProfile {
  const char* name = "";
  DeviceMachineConstants machine;
  DeviceProductConstants products;
  DevicePrecondConstants preconds;
  DeviceIterationConstants iterations;
};

extern const HostProfile epyc;
extern const DeviceProfile h200, h100;

}  // namespace newel::detail
