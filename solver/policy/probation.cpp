// SPDX-License-Identifier: Apache-2.0
// What a preconditioner on probation has shown.
#include "solver/policy/probation.hpp"

#include <algorithm>
#include <cmath>

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

// Of the square of the error in the norm of A, half as much in an iteration as the weaker one did in the last before
// it: what that would gain now, since a recurrence that begins again is slower at first. In plane elasticity of
// Poisson's ratios of 0.3 to 0.499999, of squares, beams, flat elements and contrasts, behind 900 to 3,500 iterations
// with Jacobi, whose residual was 10 to 500 |b|: in the first 16 iterations AMG gained 1.4 to 81 times as much as
// Jacobi in the last 16, FSAI 0.80 to 3.3 times, Jacobi begun again 0.41 to 0.61 times, a diagonal that is off by up
// to e 0.29 to 0.36 times and one by up to e^4 0.03 to 0.07 times. Iterations are compared, not seconds: they are
// limited, and nobody knows how many the weaker one would take. Where nothing is known of that, no CG does worse.
bool Probation::gains_enough(const SolveStanding& now) const {
  constexpr double begun_again = 0.5;
  const double gained = now.gained - gained_before_;
  return gained > 0 && gained >= begun_again * weaker_gains_ * (now.iterations - first_);
}

// By how the residual has come down to a tenth since, twice the seconds are left that the weaker one took for a whole
// solve. Asked early only, and not of short solves, whose residual often falls late.
bool Probation::falls_too_slowly(const SolveStanding& now, const std::optional<FollowedPrecond>& followed,
                                 const WholeSolves& whole) const {
  constexpr int enough = 16;
  constexpr double tenth = 0.1, clearly = 2, early = 1.0 / 8;
  const int made = now.iterations - first_;
  if (made < enough || !followed || whole.estimated || !(whole.weaker_iterations > 0)) return false;
  if (!(least_ <= tenth * first_residual_) || !(least_ > now.tolerance)) return false;
  const double come = std::log(first_residual_ / least_);
  const double left = made * std::log(least_ / now.tolerance) / come;
  const double weaker_left = whole.weaker_iterations - first_;
  if (!(made <= early * weaker_left)) return false;
  return left * followed->present.iteration_seconds > clearly * weaker_left * whole.weaker_seconds;
}

}  // namespace newel::detail
