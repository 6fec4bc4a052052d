// SPDX-License-Identifier: Apache-2.0
// Whole solves with a stronger preconditioner against one with the weaker.
#include "solver/policy/whole_solves.hpp"

#include <utility>

#include "solver/cost/profiles/decision_constants.hpp"

namespace newel::detail {

// Whole solves show what tenths of a residual do not: the probation allows for twice the time. The weaker one is
// taken for as fast as it was expected to be in the format that it would have moved to.
void compare_with_weaker(int iterations, History& history, const Forecasts& forecasts) {
  using Whole = WholeSolveConstants;
  WholeSolves& whole = history.whole;
  const std::optional<FollowedPrecond> followed = forecasts.followed_preconditioner();
  const int refreshes = std::exchange(whole.refreshes, 0);
  if (!followed || !(whole.weaker_iterations > 0) || iterations < 0) return;
  const auto seconds_of = [&](const PrecondOutlook& precond, double step_seconds, double of_solve) {
    return of_solve * step_seconds + refreshes * precond.refresh_seconds;
  };
  const double present = seconds_of(followed->present, followed->present.iteration_seconds, iterations);
  const double weaker = seconds_of(followed->weaker, whole.weaker_seconds, whole.weaker_iterations);
  whole.iterations = iterations;
  const double most = (whole.estimated ? Whole::clearly_if_estimated : Whole::clearly) * weaker;
  const int solves = present > Whole::by_far * most ? Whole::solves_to_leave : 1;
  whole.slower = present > most ? whole.slower + solves : 0;
}

bool proved_slower(const History& history) { return history.whole.slower >= WholeSolveConstants::solves_to_leave; }

}  // namespace newel::detail
