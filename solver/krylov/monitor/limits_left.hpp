// SPDX-License-Identifier: Apache-2.0
/// What is left of a solve's limits for its next part. Internal.
#pragma once

#include <algorithm>

#include <newel/solver/krylov.hpp>

namespace newel::detail {

/// `stop` after so many iterations and seconds: at least 0 iterations and, where there is a limit of time, a
/// nanosecond, since 0 would be none.
inline StopCriterion limits_left(StopCriterion stop, int iterations, double seconds) {
  constexpr double least_seconds = 1e-9;
  stop.max_iterations = std::max(0, stop.max_iterations - iterations);
  if (stop.time_limit_seconds > 0) {
    stop.time_limit_seconds = std::max(stop.time_limit_seconds - seconds, least_seconds);
  }
  return stop;
}

}  // namespace newel::detail
