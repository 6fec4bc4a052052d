// SPDX-License-Identifier: Apache-2.0
/// Excitable tissue at a point: the two-variable model of R. R. Aliev and A. V. Panfilov, "A simple two-variable
/// model of cardiac excitation", Chaos, Solitons & Fractals 7, 1996, as J. Wong, E. Kuhl and E. Darve use it (Int. J.
/// Numer. Meth. Engng 102, 2015, equations 4 and 5).
///
/// phi is the transmembrane voltage without dimension, 0 at rest and 1 when excited: 100 phi - 80 mV. r is the
/// recovery. Time inside the model is counted in units of 12.9 ms; every function here takes and gives milliseconds.
#pragma once

#include <cmath>

#include "apps/heart/element_loop.hpp"

namespace newel::heart {

struct Tissue {
  double alpha = 0.01;  ///< threshold of excitation
  double b = 0.15;
  double c = 8;
  double gamma = 0.002;
  double mu1 = 0.2;
  double mu2 = 0.3;
  double time_unit = 12.9;  ///< ms

  static constexpr double millivolt_range = 100;
  static constexpr double millivolt_rest = -80;
};

/// What the voltage equation gains from the reaction: its value per ms, and how that changes with phi when r follows
/// phi, per ms.
struct Reaction {
  double value;
  double slope;
};

/// c phi (phi - alpha)(1 - phi) - r phi, per ms (equation 4).
HEART_BOTH double voltage_rate(const Tissue& t, double phi, double r) {
  return (t.c * phi * (phi - t.alpha) * (1 - phi) - r * phi) / t.time_unit;
}

/// (gamma + mu1 r / (mu2 + phi)) (-r - c phi (phi - b - 1)), per ms (equation 5).
HEART_BOTH double recovery_rate(const Tissue& t, double phi, double r) {
  return (t.gamma + t.mu1 * r / (t.mu2 + phi)) * (-r - t.c * phi * (phi - t.b - 1)) / t.time_unit;
}

/// The steepest that the reaction can rise with phi, per ms: where phi = (1 + alpha) / 3 and r = 0. A step of
/// backward Euler has one solution, and a positive definite tangent, while 1 / dt exceeds it.
inline double steepest_slope(const Tissue& t) {
  return t.c * ((1 + t.alpha) * (1 + t.alpha) / 3 - t.alpha) / t.time_unit;
}

/// Solves r - r_old = dt recovery_rate(phi, r) by Newton's method from r (equation 7), which receives the result, and
/// returns the reaction there, consistently linearised (equation 8). `steps` receives how often it iterated;
/// most_steps says that it did not converge. `per_unit` is 1 / t.time_unit: divisions are what an element costs.
struct RecoveryNewton {
  static constexpr int most_steps = 30;

  HEART_BOTH static Reaction solve(const Tissue& t, double per_unit, double dt, double phi, double r_old, double& r,
                                   int& steps) {
    const double h = dt * per_unit;
    const double inverse = 1 / (t.mu2 + phi);
    const double a = t.mu1 * inverse;
    const double pull = -t.c * phi * (phi - t.b - 1);
    const double bend = h * a;  // half the second derivative of the residual
    for (steps = 0; steps < most_steps; ++steps) {
      const double speed = t.gamma + a * r;
      const double change = (r - r_old - h * speed * (pull - r)) / (1 - bend * (pull - r) + h * speed);
      r -= change;
      // What is left of the residual, which is quadratic.
      if (bend * change * change <= 1e-17 * (1 + std::fabs(r))) break;
    }
    const double speed = t.gamma + a * r;
    const double by_phi = -a * r * inverse * (pull - r) - speed * t.c * (2 * phi - t.b - 1);
    const double r_by_phi = h * by_phi / (1 - bend * (pull - r) + h * speed);
    const double partial = t.c * (-3 * phi * phi + 2 * (1 + t.alpha) * phi - t.alpha) - r;
    const double value = t.c * phi * (phi - t.alpha) * (1 - phi) - r * phi;
    return {value * per_unit, (partial - phi * r_by_phi) * per_unit};
  }
};

/// The speed, in mm/ms = m/s, of a planar front into tissue at rest whose recovery is slow, along a direction with
/// diffusivity `d` in mm^2/ms: (c d / (2 time_unit))^(1/2) (1 - 2 alpha), exact for the cubic alone (A. L. Hodgkin's
/// and A. F. Huxley's bistable front; J. Keener and J. Sneyd, Mathematical Physiology, chapter 6).
inline double front_speed(const Tissue& t, double d) {
  return std::sqrt(t.c * d / (2 * t.time_unit)) * (1 - 2 * t.alpha);
}

/// The same front's width in mm: phi = 1 / (1 + exp(x / width)). It rises from a tenth to nine tenths over 4.4 of
/// them.
inline double front_width(const Tissue& t, double d) { return std::sqrt(2 * d * t.time_unit / t.c); }

}  // namespace newel::heart
