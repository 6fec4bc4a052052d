// SPDX-License-Identifier: Apache-2.0
// What a preconditioner on probation has shown.
#include "solver/policy/probation.hpp"

#include <algorithm>
#include <cmath>

#include "solver/cost/profiles/decision_constants.hpp"
#include "solver/krylov/monitor/residual_rate.hpp"

namespace newel::detail {

Probation::Probation(int allowed_for_a_tenth, const SolveStanding& at, bool by_gains)
    : length_(allowed_for_a_tenth), by_gains_(by_gains), weaker_gains_(at.gained_lately) {
  begin(at);
}

void Probation::begin(const SolveStanding& at) {
  from_ = first_ = at.iterations;
  begun_ = least_ = first_residual_ = at.residual;
  gained_before_ = at.gained;
}

// Whatever the energy showed, the residual tells again once it is a tenth of the first one.
Probation::Verdict Probation::judge(const SolveStanding& now, const std::optional<FollowedPrecond>& followed,
                                    const WholeSolves& whole) {
  constexpr double tenth = 0.1;
  if (length_ == 0) return Verdict::none;
  if (begun_ == 0) begin(now);             // taken before the solve, which is asked for the first time
  if (now.iterations < from_) begin(now);  // of the chain's next solver
  least_ = std::min(least_, now.residual);
  if (least_ <= tenth * begun_) {
    passed_ = true;
    length_ = std::max(length_, now.iterations - from_);
    without_end_ = false;
    begun_ = least_;
    from_ = now.iterations;
  }
  if (by_gains_ && now.iterations >= first_ + few_steps) {
    by_gains_ = false;
    if (gains_enough(now)) {
      passed_ = without_end_ = true;
      begun_ = std::min(begun_, now.initial_residual);
    }
  }
  const bool late = !without_end_ && now.iterations >= from_ + length_;
  if (late || falls_too_slowly(now, followed, whole)) return Verdict::failed;
  return passed_ ? Verdict::passed : Verdict::awaited;
}

// Of the square of the error in the norm of A, against what the weaker one gained in the last iterations. Iterations
// are compared, not seconds: they are limited, and nobody knows how many the weaker one would take. Where nothing is
// known of that, no CG does worse.
bool Probation::gains_enough(const SolveStanding& now) const {
  const double gained = now.gained - gained_before_;
  return gained > 0 && gained >= ProbationConstants::begun_again * weaker_gains_ * (now.iterations - first_);
}

// By how the residual has come down to a tenth since, twice the seconds are left that the weaker one took for a whole
// solve. Asked early only, and not of short solves, whose residual often falls late.
bool Probation::falls_too_slowly(const SolveStanding& now, const std::optional<FollowedPrecond>& followed,
                                 const WholeSolves& whole) const {
  using Fitted = ProbationConstants;
  constexpr double tenth = 0.1;
  const int made = now.iterations - first_;
  if (made < Fitted::enough || !followed || whole.estimated || !(whole.weaker_iterations > 0)) return false;
  if (!(least_ <= tenth * first_residual_) || !(least_ > now.tolerance)) return false;
  const double come = std::log(first_residual_ / least_);
  const double left = made * std::log(least_ / now.tolerance) / come;
  const double weaker_left = whole.weaker_iterations - first_;
  if (!(made <= Fitted::early * weaker_left)) return false;
  return left * followed->present.iteration_seconds > Fitted::clearly * weaker_left * whole.weaker_seconds;
}

}  // namespace newel::detail
