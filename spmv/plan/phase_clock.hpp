// SPDX-License-Identifier: Apache-2.0
/// PhaseClock: seconds of the phases of a setup. Internal.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace newel::detail {

class PhaseClock {
 public:
  /// Ends the phase that began at construction or at the last call, and names it. Phases of one name are summed, as
  /// where the host takes over what a device has begun.
  void end(std::string phase) {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    const auto known =
        std::find_if(seconds_.begin(), seconds_.end(), [&](const auto& s) { return s.first == phase; });
    if (known == seconds_.end()) {
      seconds_.emplace_back(std::move(phase), seconds);
    } else {
      known->second += seconds;
    }
  }
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace newel::detail
