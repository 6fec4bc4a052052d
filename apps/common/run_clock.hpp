// SPDX-License-Identifier: Apache-2.0
/// Stopwatch, and RunClock: the seconds of a process by phase, from its start. Phases follow each other without a
/// gap, so that their sum is the total.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace newel::cli {

/// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds since the process began, as far as Linux says: never too long, and too short by a tick (10 ms) at most.
/// Where it does not say, the processor time so far. What a shell did in the process before its `exec` counts too.
double process_age();

/// The same from the content of /proc/self/stat, the seconds since the machine was started, ticks per second, and the
/// processor time of the process.
double process_age(std::string_view stat, double uptime, double ticks_per_second, double processor_seconds);

class RunClock {
 public:
  /// `age`: seconds that have passed before. `now` returns seconds since any moment; the default is the steady clock.
  explicit RunClock(double age = process_age(), std::function<double()> now = {});

  /// Ends the phase that began at the last call, or with the process, and names it. Phases of one name are summed.
  void end(const std::string& phase);

  /// 0 for a phase that has not ended.
  double seconds(std::string_view phase) const;
  double total() const;
  /// In the order in which they ended first.
  const std::vector<std::pair<std::string, double>>& phases() const { return phases_; }

 private:
  std::function<double()> now_;
  double phase_start_;
  std::vector<std::pair<std::string, double>> phases_;
};

}  // namespace newel::cli
