// SPDX-License-Identifier: Apache-2.0
/// SolveLimits: a solve's time limit and callback, for its iterations and for the setups on its way. Internal.
#pragma once

#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "core/memory/work_limit.hpp"
#include <newel/solver/krylov.hpp>

namespace newel::detail {

/// Of the outermost call of a solve; in another one it changes nothing. Once there was an iteration, a setup that
/// takes long asks the callback too, with the progress that it was last called with; what has ended a setup ends the
/// solve.
template <Space S>
class SolveLimits {
 public:
  /// `seconds`: 0 for none.
  SolveLimits(const Context<S>& ctx, double seconds, ProgressFn progress)
      : limit_(work_limit(ctx)),
        progress_(std::move(progress)),
        scope_(limit_, seconds > 0 ? seconds : std::numeric_limits<double>::infinity(), asks()) {
    if (!progress_ || !scope_.outermost()) return;
    watched_ = [this](const Progress& now) { return iterations_go_on(now); };
  }
  SolveLimits(const SolveLimits&) = delete;
  SolveLimits& operator=(const SolveLimits&) = delete;

  /// What the solvers call instead of the caller's.
  const ProgressFn& progress() const { return watched_ ? watched_ : progress_; }

 private:
  WorkLimit::Ask asks() {
    if (!progress_) return {};
    return [this] { return setup_goes_on(); };
  }
  bool iterations_go_on(const Progress& now) {
    if (solver_ != now.solver) solver_ = now.solver;
    last_ = now;
    last_.solver = solver_;
    iterated_ = true;
    return limit_.ended() != WorkEnd::caller && progress_(now);
  }
  bool setup_goes_on() {
    if (!iterated_) return true;
    last_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return progress_(last_);
  }

  WorkLimit& limit_;
  const ProgressFn progress_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::string solver_;  // of `last_`: the caller's may not outlive the call
  Progress last_;
  bool iterated_ = false;
  ProgressFn watched_;
  WorkLimit::Scope scope_;
};

}  // namespace newel::detail
