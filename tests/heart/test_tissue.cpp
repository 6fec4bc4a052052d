// SPDX-License-Identifier: Apache-2.0
// The tissue model at a point, and the speed of a planar front.
#include "tests/heart/heart_support.hpp"

using namespace purlin;
using namespace purlin::testing;
using heart::Tissue;

TEST_CASE("tissue at rest stays at rest, and a whole beat returns to it in about 400 ms", "[heart]") {
  const Tissue t;
  CHECK(heart::voltage_rate(t, 0, 0) == 0);
  CHECK(heart::recovery_rate(t, 0, 0) == 0);
  // Explicit Euler with a small step, from an excited start: an action potential.
  double phi = 0.2, r = 0, peak = 0, back_at = 0;
  constexpr double dt = 0.005;
  for (double time = 0; time < 800; time += dt) {
    const double rate = heart::voltage_rate(t, phi, r);
    r += dt * heart::recovery_rate(t, phi, r);
    phi += dt * rate;
    peak = std::max(peak, phi);
    if (back_at == 0 && time > 50 && phi < 0.1) back_at = time;  // 90 % repolarised
  }
  CHECK(peak == Approx(1).margin(0.03));
  CHECK(back_at > 250);
  CHECK(back_at < 450);
  CHECK(phi == Approx(0).margin(0.02));
}

TEST_CASE("the recovery of a step solves its equation, and the slope is that of the eliminated reaction", "[heart]") {
  const Tissue t;
  Random random(3);
  for (int k = 0; k < 2000; ++k) {
    const double phi = -0.05 + 1.1 * std::fabs(random.value()), old = 3 * std::fabs(random.value());
    const double dt = 0.01 + 4 * std::fabs(random.value());
    double r = old;
    int steps = 0;
    const heart::Reaction reaction = heart::RecoveryNewton::solve(t, 1 / t.time_unit, dt, phi, old, r, steps);
    CHECK(steps < heart::RecoveryNewton::most_steps);
    CHECK(r - old - dt * heart::recovery_rate(t, phi, r) == Approx(0).margin(1e-14));
    CHECK(reaction.value == Approx(heart::voltage_rate(t, phi, r)).epsilon(1e-14).margin(1e-16));
    const auto value_at = [&](double moved) {
      double at = old;
      return heart::RecoveryNewton::solve(t, 1 / t.time_unit, dt, moved, old, at, steps).value;
    };
    const double h = 1e-5;
    CHECK(reaction.slope == Approx((value_at(phi + h) - value_at(phi - h)) / (2 * h)).margin(1e-8));
    CHECK(reaction.slope <= heart::steepest_slope(t) * (1 + 1e-12));
  }
}

TEST_CASE("the default conductivities drive a front at 0.5 to 0.7 m/s along the fibres", "[heart]") {
  const Tissue t;
  const heart::Conductivity d;
  CHECK(heart::front_speed(t, d.along) > 0.5);
  CHECK(heart::front_speed(t, d.along) < 0.7);
  CHECK(heart::front_speed(t, d.across) < 0.35);
}
