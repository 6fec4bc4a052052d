// SPDX-License-Identifier: Apache-2.0
/// The vector steps between a system in double and its iteration in single precision. Internal.
#pragma once

#include <cmath>

#include "solver/krylov/steps/cg_steps.hpp"

namespace newel::detail {

/// The power of two at or below `size`, by which a vector is divided before it is rounded to single precision; 1 for
/// 0 and what is not finite.
NEWEL_HD double power_of_two_below(double size) {
  if (!(size > 0) || !(size - size == 0)) return 1;
  int exponent;
  frexp(size, &exponent);
  return ldexp(1.0, exponent - 1);
}

/// y = factor x, rounded to single precision.
struct RoundStep : PlainStep {
  const double* x;
  float* y;
  double factor;
  RoundStep(const double* x_, float* y_, double factor_) : x(x_), y(y_), factor(factor_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    y[i] = static_cast<float>(factor * x[i]);
  }
};

/// y = x / u, rounded to single precision, u being the power of two below |x|.
struct RoundByNorm {
  static constexpr int sums = 0;
  const double *norm, *x;
  float* y;

  NEWEL_HD bool active() const { return true; }
  NEWEL_HD double begin() const { return 1 / power_of_two_below(*norm); }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, double factor, Sums&) const {
    y[i] = static_cast<float>(factor * x[i]);
  }
  NEWEL_HD void end(const double*) const {}
};

/// x = x + factor d, x in double and d in single precision.
struct AddCorrection : PlainStep {
  const float* d;
  double* x;
  double factor;
  AddCorrection(const float* d_, double* x_, double factor_) : d(d_), x(x_), factor(factor_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    x[i] += factor * double(d[i]);
  }
};

/// y = alpha u z + beta y with the same u, z in single precision; with beta = 0, y is not read.
struct AddWidened {
  static constexpr int sums = 0;
  const double* norm;
  const float* z;
  double* y;
  double alpha, beta;

  NEWEL_HD bool active() const { return true; }
  NEWEL_HD double begin() const { return alpha * power_of_two_below(*norm); }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, double factor, Sums&) const {
    y[i] = factor * double(z[i]) + (beta == 0 ? 0.0 : beta * y[i]);
  }
  NEWEL_HD void end(const double*) const {}
};

/// The residual of the recurrence is replaced by the true one: s = factor r in single precision, d = 0, s.s. The
/// recurrence continues with its direction, unless the two residuals differ by more than `agreement` of the true one:
/// then the direction belongs to another system than the one that is left, and CG begins anew.
struct MixedReplace {
  static constexpr int sums = 2;
  static constexpr double agreement = 0.1;
  MonitorState monitor;  ///< of what comes now
  bool first;            ///< no direction yet
  bool preconditioned;
  double no_rho;  ///< infinity: beta is 0
  double factor;
  const double* r;
  float *s, *d;
  CgState* state;

  NEWEL_HD bool active() const { return true; }
  NEWEL_HD NoCoefficients begin() const { return {}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const float si = static_cast<float>(factor * r[i]);
    const double change = double(si) - double(s[i]);
    total.add(0, first ? 0 : change * change);
    total.add(1, double(si) * double(si));
    s[i] = si;
    d[i] = 0;
  }
  NEWEL_HD void end(const double* totals) const {
    state->monitor = monitor;
    state->preconditioned = preconditioned;
    state->rr = totals[1];
    state->alpha = 0;
    if (first || !(totals[0] <= agreement * agreement * totals[1])) state->rho_old = no_rho;
  }
};

}  // namespace newel::detail
