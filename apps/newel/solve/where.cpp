// SPDX-License-Identifier: Apache-2.0
// Host or device, where the user named none.
#include "where.hpp"

#include "apps/common/text.hpp"

namespace newel::cli {

WhereToSolve choose_where(const std::string& device, bool may_have_device,
                          const std::function<double()>& host_seconds) {
  constexpr double safety = 3;
  if (device == "auto" && may_have_device) {
    const double seconds = host_seconds();
    if (safety * seconds <= device_start_seconds) {
      return {Place{},
              "a solve is estimated at " + duration(seconds) + " on the host, less than a device takes to start"};
    }
  }
  return {choose_place(device), ""};
}

}  // namespace newel::cli
