// SPDX-License-Identifier: Apache-2.0
// Whole ticks: no time step ever rounds.
#include "time_grid.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>

#include "apps/common/text.hpp"

namespace newel::transient {

TimeGrid::TimeGrid(double dt0, int most_halvings) : dt0_(dt0), most_halvings_(most_halvings) {
  if (!(dt0 > 0) || !std::isfinite(dt0))
    throw InputError(cli::text("a time step: expected more than 0, found %g", dt0));
  if (most_halvings < 0 || most_halvings > tick_bits) {
    throw InputError(cli::text("halvings of a time step: expected 0 to %d, found %d", tick_bits, most_halvings));
  }
}

TimeGrid::TimeGrid(double dt0, int most_halvings, const State& state) : TimeGrid(dt0, most_halvings) {
  const bool sound = state.ticks >= 0 && state.steps >= 0 && state.halvings >= 0 && state.halvings <= most_halvings &&
                     state.ticks % (ticks_per_dt0 >> state.halvings) == 0;
  if (!sound) {
    throw InputError(cli::text("invalid state of a time grid: tick %lld, step %lld, %lld halvings",
                               static_cast<long long>(state.ticks), static_cast<long long>(state.steps),
                               static_cast<long long>(state.halvings)));
  }
  state_ = state;
}

// Up to 2^53 ticks are exact as double, the power of two is exact: the product rounds once.
double TimeGrid::now() const { return std::ldexp(static_cast<double>(state_.ticks), -tick_bits) * dt0_; }

double TimeGrid::next() const {
  return std::ldexp(static_cast<double>(state_.ticks + step_ticks()), -tick_bits) * dt0_;
}

double TimeGrid::step() const { return std::ldexp(dt0_, -halvings()); }

void TimeGrid::accept() {
  state_.ticks += step_ticks();
  ++state_.steps;
}

bool TimeGrid::halve() {
  if (state_.halvings >= most_halvings_) return false;
  ++state_.halvings;
  return true;
}

bool TimeGrid::grow() {
  if (state_.halvings == 0 || state_.ticks % (2 * step_ticks()) != 0) return false;
  --state_.halvings;
  return true;
}

std::int64_t whole_steps(double duration, double dt0) {
  constexpr double forgiven = 1e-6;
  constexpr double most = 2147483647;
  const double steps = std::ceil(duration / dt0 - forgiven);
  if (!(duration > 0) || !(dt0 > 0) || !(steps <= most)) {
    throw InputError(cli::text("a run of %g in steps of %g: expected from 1 to %.0f steps", duration, dt0, most));
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
}

Every::Every(double interval, double dt0) {
  if (interval == 0) return;
  constexpr double most = 9e15;
  if (!(interval > 0) || !std::isfinite(interval)) {
    throw InputError(cli::text("an interval of time: expected a number that is not negative, found %g", interval));
  }
  steps_ = std::max<std::int64_t>(1, std::llround(std::min(interval / dt0, most)));
}

bool Every::due(const TimeGrid& grid) const {
  return steps_ > 0 && grid.on_dt0() && grid.ticks() / TimeGrid::ticks_per_dt0 % steps_ == 0;
}

}  // namespace newel::transient
