// SPDX-License-Identifier: Apache-2.0
/// SolveClock: the time of a solve, and what has stopped it from outside. Internal.
#pragma once

#include <chrono>

#include <newel/solver/krylov.hpp>

namespace newel::detail {

class SolveClock {
 public:
  /// Since the solve began.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  /// The caller, the time limit or who owns the solve has stopped it, at this poll or an earlier one.
  bool interrupted() const { return status_ != Status::converged; }
  /// How it ends then: `stopped_by_caller`, `time_limit` or `stagnation`; and why.
  Status interruption() const { return status_; }
  const Failure& failure() const { return failure_; }

  /// Tells the caller, who may be nobody, asks whether to give up, and looks at the limit.
  template <class T, Space S>
  void tell(const SolveRequest<T, S>& request, const Progress& now) {
    if (request.progress && !request.progress(now)) stop(Status::stopped_by_caller, {Cause::stopped_by_caller});
    if (!interrupted() && request.give_up != nullptr) {
      if (const std::optional<Failure> failure = (*request.give_up)(now)) stop(Status::stagnation, *failure);
    }
    const double limit = request.stop.time_limit_seconds;
    if (!interrupted() && limit > 0 && now.seconds > limit) stop(Status::time_limit, {Cause::time_limit});
  }

 private:
  void stop(Status status, const Failure& failure) {
    status_ = status;
    failure_ = failure;
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Status status_ = Status::converged;
  Failure failure_;
};

}  // namespace newel::detail
