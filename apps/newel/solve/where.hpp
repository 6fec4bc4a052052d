// SPDX-License-Identifier: Apache-2.0
/// Where `newel solve` works under --device auto.
#pragma once

#include <functional>
#include <string>

#include "apps/common/place.hpp"

namespace newel::cli {

struct WhereToSolve {
  Place place;
  std::string reason;  ///< of the automatic choice, else empty
};

/// What starting a device costs a process: its driver, its context and the first kernels. Measured on an H200.
inline constexpr double device_start_seconds = 0.3;

/// The host for a system that it is expected to have solved before a device has started, even if the estimate is
/// three times too low; else what --device auto means. `host_seconds` is asked only where there may be a device.
WhereToSolve choose_where(const std::string& device, bool may_have_device,
                          const std::function<double()>& host_seconds);

}  // namespace newel::cli
