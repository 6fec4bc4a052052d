// SPDX-License-Identifier: Apache-2.0
// Roots of frequency equations, bracketed between the minima of the shear-free theory.
#include "beam_theory.hpp"

#include <cmath>

namespace newel::beam {
namespace {

constexpr double pi = 3.14159265358979323846;

// The root of f between low and high, where its signs differ.
template <class F>
double root_between(double low, double high, const F& f) {
  const bool rises = f(low) < 0;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (((f(middle) < 0) == rises) ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// k L of the n-th mode, from 0; one root in each interval of pi. Divided by cosh, which overflows.
double wave_number(int n) {
  return root_between(n * pi, (n + 1) * pi, [](double x) { return std::cos(x) + 1 / std::cosh(x); });
}

// (E I / (rho A))^(1/2) / L^2, the unit of angular frequencies.
double rate(const Cantilever& bar, const Material& m) {
  return std::sqrt(m.youngs_modulus / (12 * m.density)) * bar.thickness / (bar.length * bar.length);
}

}  // namespace

std::vector<double> euler_bernoulli(const Cantilever& bar, const Material& material, int count) {
  std::vector<double> hertz;
  for (int n = 0; n < count; ++n) {
    const double x = wave_number(n);
    hertz.push_back(x * x * rate(bar, material) / (2 * pi));
  }
  return hertz;
}

std::vector<double> timoshenko(const Cantilever& bar, const Material& material, int count) {
  const double nu = material.poisson_ratio;
  const double shear = 10 * (1 + nu) / (12 + 11 * nu);
  const double rotary2 = bar.thickness * bar.thickness / (12 * bar.length * bar.length);  // Huang's r^2
  const double shear2 = rotary2 * 2 * (1 + nu) / shear;                                   // Huang's s^2
  // Of b, the angular frequency in the unit of `rate`; divided by cosh(b alpha).
  const auto equation = [&](double b) {
    const double sum = rotary2 + shear2, difference = rotary2 - shear2;
    const double root = std::sqrt(difference * difference + 4 / (b * b));
    const double alpha = std::sqrt(0.5 * (root - sum)), beta = std::sqrt(0.5 * (root + sum));
    return 2 / std::cosh(b * alpha) + (b * b * difference * difference + 2) * std::cos(b * beta) -
           b * sum / std::sqrt(1 - b * b * rotary2 * shear2) * std::tanh(b * alpha) * std::sin(b * beta);
  };
  // Below b r s = 1, in steps of a hundredth of the first frequency: roots lie many steps apart.
  const double first = wave_number(0) * wave_number(0), last = 0.999 / std::sqrt(rotary2 * shear2);
  std::vector<double> hertz;
  for (double b = 0.01 * first; b < last && static_cast<int>(hertz.size()) < count; b += 0.01 * first) {
    const double next = std::min(b + 0.01 * first, last);
    if ((equation(b) < 0) == (equation(next) < 0)) continue;
    hertz.push_back(root_between(b, next, equation) * rate(bar, material) / (2 * pi));
  }
  return hertz;
}

}  // namespace newel::beam
