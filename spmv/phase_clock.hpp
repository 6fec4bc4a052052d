// SPDX-License-Identifier: Apache-2.0
/// PhaseClock: seconds of the phases of a setup. Internal.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace purlin::detail {

class PhaseClock {
 public:
  /// Ends the phase that began at construction or at the last call, and names it.
  void end(std::string phase) {
    const auto now = Clock::now();
    seconds_.emplace_back(std::move(phase), std::chrono::duration<double>(now - start_).count());
    start_ = now;
  }
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace purlin::detail
