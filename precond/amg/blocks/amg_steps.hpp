// SPDX-License-Identifier: Apache-2.0
/// The vector passes of a multigrid cycle and of trials of it, for both spaces. Internal.
#pragma once

#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// x = c s z and r = b: the first step of a smoother from x = 0. s is D^-1 / lambda and z is b; or s is 1 / lambda
/// and z the sparse smoother's product with b, and so with r in the other steps. V: the type of what comes from
/// outside of a cycle in T.
template <class T, class V = T>
struct AmgFirstStep : PlainStep {
  T c;
  const T* s;
  const V *b, *z;
  T *x, *r;
  AmgFirstStep(T c_, const T* s_, const V* b_, const V* z_, T* x_, T* r_)
      : c(c_), s(s_), b(b_), z(z_), x(x_), r(r_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const auto value = static_cast<T>(b[i]);
    x[i] = c * s[i] * static_cast<T>(z[i]);
    r[i] = value;
  }
};

/// d = c1 before + c2 s r and x = x + d: a further step. `before` may be d or x.
template <class T>
struct AmgNextStep : PlainStep {
  T c1, c2;
  const T *s, *r, *before;
  T *d, *x;
  AmgNextStep(T c1_, T c2_, const T* s_, const T* r_, const T* before_, T* d_, T* x_)
      : c1(c1_), c2(c2_), s(s_), r(r_), before(before_), d(d_), x(x_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const T value = c1 * before[i] + c2 * s[i] * r[i];
    d[i] = value;
    x[i] += value;
  }
};

/// y = x + d with the d of AmgNextStep, which is not kept, and b.y: the last step of a cycle. x may be y.
template <class T, class V>
struct AmgLastStep : PlainStep {
  static constexpr int sums = 1;
  T c1, c2;
  const T *s, *r, *before, *x;
  const V* b;
  V* y;
  double* by;
  AmgLastStep(T c1_, T c2_, const T* s_, const T* r_, const T* before_, const T* x_, const V* b_, V* y_, double* by_)
      : c1(c1_), c2(c2_), s(s_), r(r_), before(before_), x(x_), b(b_), y(y_), by(by_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const T d = c1 * before[i] + c2 * s[i] * r[i];
    const auto value = static_cast<V>(x[i] + d);
    y[i] = value;
    total.add(0, double(b[i]) * double(value));
  }
  NEWEL_HD void end(const double* totals) const { *by = totals[0]; }
};

/// x = x + d, then d = c s r and x = x + d: a coarse correction d, and the first step of the smoother after it.
template <class T>
struct AmgAgainStep : PlainStep {
  T c;
  const T *s, *r;
  T *d, *x;
  AmgAgainStep(T c_, const T* s_, const T* r_, T* d_, T* x_) : c(c_), s(s_), r(r_), d(d_), x(x_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const T value = c * s[i] * r[i];
    x[i] += d[i] + value;
    d[i] = value;
  }
};

/// An entry of s for each of the columns that are interleaved in `to`: 2, 4 or 8.
template <class T>
struct RepeatStep : PlainStep {
  const T* s;
  int shift;
  T* to;
  RepeatStep(const T* s_, int columns, T* to_) : s(s_), shift(columns == 8 ? 3 : columns / 2), to(to_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    to[i] = s[i >> shift];
  }
};

/// p = z + (rz / before) p: the direction of CG in a trial.
template <class T>
struct TrialDirection {
  static constexpr int sums = 0;
  const T* z;
  const double *rz, *before;
  T* p;
  TrialDirection(const T* z_, const double* rz_, const double* before_, T* p_)
      : z(z_), rz(rz_), before(before_), p(p_) {}
  NEWEL_HD bool active() const { return true; }
  NEWEL_HD T begin() const { return static_cast<T>(*rz / *before); }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, T beta, Sums&) const {
    p[i] = z[i] + beta * p[i];
  }
  NEWEL_HD void end(const double*) const {}
};

/// e = e - (rz / pq) p, r = r - (rz / pq) q, and e.r: the step along it, e being the error.
template <class T>
struct TrialMove {
  static constexpr int sums = 1;
  const T *p, *q;
  const double *rz, *pq;
  T *e, *r;
  double* er;
  TrialMove(const T* p_, const T* q_, const double* rz_, const double* pq_, T* e_, T* r_, double* er_)
      : p(p_), q(q_), rz(rz_), pq(pq_), e(e_), r(r_), er(er_) {}
  NEWEL_HD bool active() const { return true; }
  NEWEL_HD T begin() const { return static_cast<T>(*rz / *pq); }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, T alpha, Sums& total) const {
    e[i] -= alpha * p[i];
    r[i] -= alpha * q[i];
    total.add(0, double(e[i]) * double(r[i]));
  }
  NEWEL_HD void end(const double* totals) const { *er = totals[0]; }
};

#define NEWEL_AMG_STEPS(SWEEP)                       \
  SWEEP(newel::detail::AmgFirstStep<double, double>) \
  SWEEP(newel::detail::AmgFirstStep<float, float>)   \
  SWEEP(newel::detail::AmgFirstStep<float, double>)  \
  SWEEP(newel::detail::AmgLastStep<double, double>)  \
  SWEEP(newel::detail::AmgLastStep<float, float>)    \
  SWEEP(newel::detail::AmgLastStep<float, double>)   \
  SWEEP(newel::detail::AmgNextStep<double>)          \
  SWEEP(newel::detail::AmgNextStep<float>)           \
  SWEEP(newel::detail::AmgAgainStep<double>)         \
  SWEEP(newel::detail::AmgAgainStep<float>)          \
  SWEEP(newel::detail::RepeatStep<double>)           \
  SWEEP(newel::detail::RepeatStep<float>)            \
  SWEEP(newel::detail::TrialDirection<double>)       \
  SWEEP(newel::detail::TrialDirection<float>)        \
  SWEEP(newel::detail::TrialMove<double>)            \
  SWEEP(newel::detail::TrialMove<float>)

}  // namespace newel::detail
