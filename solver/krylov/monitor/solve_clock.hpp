// SPDX-License-Identifier: Apache-2.0
/// SolveClock: the time of a solve, and whether its limit or the caller has stopped it. Internal.
#pragma once

#include <chrono>

#include <newel/solver/krylov.hpp>

namespace newel::detail {

class SolveClock {
 public:
  /// Since the solve began.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  /// The caller or the time limit has stopped the solve, at this poll or an earlier one.
  bool interrupted() const { return status_ != Status::converged; }
  /// By whom: `stopped_by_caller` or `time_limit`.
  Status interruption() const { return status_; }

  /// Tells the caller, who may be nobody, and looks at the limit; 0: none.
  void tell(const ProgressFn& progress, const Progress& now, double limit_seconds) {
    if (progress && !progress(now)) status_ = Status::stopped_by_caller;
    if (!interrupted() && limit_seconds > 0 && now.seconds > limit_seconds) status_ = Status::time_limit;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Status status_ = Status::converged;
};

}  // namespace newel::detail
