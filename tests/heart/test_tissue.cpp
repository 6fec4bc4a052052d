// SPDX-License-Identifier: Apache-2.0
// The tissue model at a point, and the speed of a planar front.
#include "tests/heart/heart_support.hpp"

#include "apps/heart/heart_loops.hpp"

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

TEST_CASE("the tissue has the constants of the paper, and its beat lasts as long as theirs do", "[heart]") {
  // R. R. Aliev and A. V. Panfilov, 1996, and the unit of time in which J. Wong, E. Kuhl and E. Darve count.
  constexpr double alpha = 0.01, b = 0.15, c = 8, gamma = 0.002, mu1 = 0.2, mu2 = 0.3, unit = 12.9;
  const Tissue t;
  CHECK(t.alpha == alpha);
  CHECK(t.b == b);
  CHECK(t.c == c);
  CHECK(t.gamma == gamma);
  CHECK(t.mu1 == mu1);
  CHECK(t.mu2 == mu2);
  CHECK(t.time_unit == unit);

  // Until 90 % repolarised, by Runge and Kutta's method with the constants above: the whole of the equations again.
  const auto rates = [&](double u, double v) {
    return std::pair<double, double>{(c * u * (u - alpha) * (1 - u) - u * v) / unit,
                                     -(gamma + mu1 * v / (u + mu2)) * (v + c * u * (u - b - 1)) / unit};
  };
  constexpr double end = 0.1, begin = 0.2, h = 0.05;
  double u = begin, v = 0, expected = 0;
  for (double time = 0; expected == 0 && time < 800; time += h) {
    const auto [u1, v1] = rates(u, v);
    const auto [u2, v2] = rates(u + h / 2 * u1, v + h / 2 * v1);
    const auto [u3, v3] = rates(u + h / 2 * u2, v + h / 2 * v2);
    const auto [u4, v4] = rates(u + h * u3, v + h * v3);
    const double next = u + h / 6 * (u1 + 2 * u2 + 2 * u3 + u4);
    if (time > 50 && u >= end && next < end) expected = time + h * (u - end) / (u - next);
    u = next;
    v += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
  }
  REQUIRE(expected > 0);

  // The program's steps: backward Euler, recovery by its Newton method, voltage by ours.
  constexpr double dt = 0.05;
  double phi = begin, r = 0, duration = 0;
  for (double time = 0; duration == 0 && time < 800; time += dt) {
    const double phi_old = phi, r_old = r;
    for (int k = 0; k < 20; ++k) {
      int steps = 0;
      const heart::Reaction reaction = heart::RecoveryNewton::solve(t, 1 / t.time_unit, dt, phi, r_old, r, steps);
      const double change = (phi - phi_old - dt * reaction.value) / (1 - dt * reaction.slope);
      phi -= change;
      if (std::fabs(change) < 1e-14) break;
    }
    if (time > 50 && phi_old >= end && phi < end) duration = time + dt * (phi_old - end) / (phi_old - phi);
  }
  // A step of 0.05 ms is a four-thousandth of the beat, and backward Euler of first order: well within 2 %.
  CHECK(duration == Approx(expected).epsilon(0.02));
}

TEST_BOTH("a node is activated when its voltage first rises through the threshold, between the steps", "[heart]") {
  // Three nodes: one that is excited twice; one that is excited from the beginning, falls and rises; one that only
  // comes near.
  const std::vector<std::vector<double>> phi = {
      {0.0, 0.9, 0.0}, {0.2, 0.7, 0.3}, {0.8, 0.1, 0.399}, {0.3, 0.6, 0.3}, {0.9, 0.9, 0.1}};
  constexpr double threshold = 0.4, begin = 10, dt = 0.5;
  Array<double, S> time = make_array(ctx, std::vector<double>(3, -1.0));
  for (std::size_t step = 0; step + 1 < phi.size(); ++step) {
    const Array<double, S> before = make_array(ctx, phi[step]), after = make_array(ctx, phi[step + 1]);
    const double start = begin + static_cast<double>(step) * dt;
    heart::detail::for_elements(
        ctx, 3, heart::detail::NoteActivation{{}, threshold, start, dt, before.data(), after.data(), time.data()});
    ctx.synchronize();
  }
  const std::vector<double> found = to_vector(ctx, time.cspan());
  // 0.2 to 0.8 in the second step, 0.1 to 0.6 in the third; later rises change nothing.
  CHECK(found[0] == Approx(begin + dt * (1 + (0.4 - 0.2) / (0.8 - 0.2))).epsilon(1e-14));
  CHECK(found[1] == Approx(begin + dt * (2 + (0.4 - 0.1) / (0.6 - 0.1))).epsilon(1e-14));
  CHECK(found[2] == -1);
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
