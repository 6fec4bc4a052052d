// SPDX-License-Identifier: Apache-2.0
/// The vector steps between a system in double and its iteration in single precision. Internal.
#pragma once

#include <purlin/solver/cg_steps.hpp>

namespace purlin::detail {

/// y = factor x, rounded to single precision.
struct RoundStep : PlainStep {
  const double* x;
  float* y;
  double factor;
  RoundStep(const double* x_, float* y_, double factor_) : x(x_), y(y_), factor(factor_) {}
  template <class Sums>
  PURLIN_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    y[i] = static_cast<float>(factor * x[i]);
  }
};

/// x = x + factor d, x in double and d in single precision.
struct AddCorrection : PlainStep {
  const float* d;
  double* x;
  double factor;
  AddCorrection(const float* d_, double* x_, double factor_) : d(d_), x(x_), factor(factor_) {}
  template <class Sums>
  PURLIN_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    x[i] += factor * double(d[i]);
  }
};

/// y = alpha z + beta y, z in single precision; with beta = 0, y is not read.
struct AddWidened : PlainStep {
  const float* z;
  double* y;
  double alpha, beta;
  AddWidened(const float* z_, double* y_, double alpha_, double beta_) : z(z_), y(y_), alpha(alpha_), beta(beta_) {}
  template <class Sums>
  PURLIN_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    y[i] = alpha * double(z[i]) + (beta == 0 ? 0.0 : beta * y[i]);
  }
};

/// The residual of the recurrence is replaced by the true one: s = factor r in single precision, d = 0, s.s. The
/// recurrence goes on with its direction, unless the two residuals differ by more than `agreement` of the true one:
/// then the direction belongs to another system than the one that is left, and CG begins anew.
struct MixedReplace {
  static constexpr int sums = 2;
  static constexpr double agreement = 0.1;
  Monitor monitor;  ///< of what comes now
  bool first;       ///< no direction yet
  bool preconditioned;
  double no_rho;  ///< infinity: beta is 0
  double factor;
  const double* r;
  float *s, *d;
  CgState* state;

  PURLIN_HD bool active() const { return true; }
  PURLIN_HD NoCoefficients begin() const { return {}; }
  template <class Sums>
  PURLIN_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const float si = static_cast<float>(factor * r[i]);
    const double change = double(si) - double(s[i]);
    total.add(0, first ? 0 : change * change);
    total.add(1, double(si) * double(si));
    s[i] = si;
    d[i] = 0;
  }
  PURLIN_HD void end(const double* totals) const {
    state->monitor = monitor;
    state->preconditioned = preconditioned;
    state->rr = totals[1];
    state->alpha = 0;
    if (first || !(totals[0] <= agreement * agreement * totals[1])) state->rho_old = no_rho;
  }
};

}  // namespace purlin::detail
