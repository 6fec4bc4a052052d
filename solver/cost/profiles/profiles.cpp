// SPDX-License-Identifier: Apache-2.0
// Which profile a machine has, and its parts.
#include "solver/cost/profiles/profiles.hpp"

#include "core/memory/host_profile.hpp"

namespace newel::detail {
namespace {

struct ProfileParts {
  const HostProfile& host;
  const DeviceProfile& device;

  operator const HostMachineConstants&() const { return host.machine; }
  operator const HostProductConstants&() const { return host.products; }
  operator const HostPrecondConstants&() const { return host.preconds; }
  operator const HostIterationConstants&() const { return host.iterations; }
  operator const DeviceMachineConstants&() const { return device.machine; }
  operator const DeviceProductConstants&() const { return device.products; }
  operator const DevicePrecondConstants&() const { return device.preconds; }
  operator const DeviceIterationConstants&() const { return device.iterations; }
};

}  // namespace

const DeviceProfile* fitted_profile(const std::string& device_name) {
  for (const DeviceProfile* const profile : {&h200, &h100}) {
    if (device_name.find(profile->name) != std::string::npos) return profile;
  }
  return nullptr;
}

const HostProfile* fitted_host_profile(const std::string& processor) {
  return processor.find(epyc.name) != std::string::npos ? &epyc : nullptr;
}

template <class Constants>
const Constants& constants_of(const Machine& machine) {
  return ProfileParts{machine.host_profile != nullptr ? *machine.host_profile : epyc,
                      machine.device_profile != nullptr ? *machine.device_profile : h200};
}

#define X(Constants) template const Constants& constants_of(const Machine&);
X(HostMachineConstants)
X(HostProductConstants)
X(HostPrecondConstants)
X(HostIterationConstants)
X(DeviceMachineConstants)
X(DeviceProductConstants)
X(DevicePrecondConstants)
X(DeviceIterationConstants)
#undef X

}  // namespace newel::detail
