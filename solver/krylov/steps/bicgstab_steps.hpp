// SPDX-License-Identifier: Apache-2.0
/// The vector steps of BiCGStab and its scalars, for both spaces. Internal.
#pragma once

#include <cmath>

#include "core/vectors/vector_step.hpp"
#include "solver/krylov/steps/bicgstab_recurrence.hpp"

namespace newel::detail {

/// Scalars of the recurrence, in S.
struct BicgstabState {
  MonitorState monitor;
  double rho, rho_old;  ///< r0.r of this iteration and of the one before
  double alpha, omega;
  double r0_norm, r_norm;
  double r0v;     ///< r0.v
  double ss;      ///< s.s
  double ts, tt;  ///< t.s, t.t
  double scratch;
  double epsilon;  ///< of the vectors' precision
  bool first;
};

/// p = r + beta (p - omega v), beta = (rho / rho_old) (alpha / omega)
template <class T>
struct BicgstabDirection {
  static constexpr int sums = 0;
  const BicgstabState* state;
  const T *r, *v;
  T* p;

  struct Coefficients {
    T beta, omega;
    bool first;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const {
    if (state->first) return {T(0), T(0), true};
    return {static_cast<T>(bicgstab_beta(state->rho, state->rho_old, state->alpha, state->omega)),
            static_cast<T>(state->omega), false};
  }
  struct Loaded {
    T r, v, p;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {r[i], v[i], p[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, Coefficients c, Sums&) const {
    p[i] = c.first ? at.r : bicgstab_next_p(at.r, c.beta, at.p, c.omega, at.v);
  }
  NEWEL_HD void end(const double*) const {}
};

/// alpha = rho / r0.v, s = r - alpha v (s takes r's place), s.s
template <class T>
struct BicgstabHalfStep {
  static constexpr int sums = 1;
  BicgstabState* state;
  const T* v;
  T* r;

  struct Coefficients {
    T alpha;
    bool sound;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const {
    const double alpha = bicgstab_alpha(state->rho, state->r0v);
    const bool sound = bicgstab_is_sound(alpha);
    return {sound ? static_cast<T>(alpha) : T(0), sound};
  }
  struct Loaded {
    T v, r;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {v[i], r[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, Coefficients c, Sums& total) const {
    const T si = c.sound ? bicgstab_next_r(at.r, c.alpha, at.v) : at.r;
    r[i] = si;
    total.add(0, double(si) * double(si));
  }
  NEWEL_HD void end(const double* totals) const {
    state->alpha = bicgstab_alpha(state->rho, state->r0v);
    state->ss = totals[0];
    if (!bicgstab_is_sound(state->alpha)) state->monitor.event = bicgstab_alpha_event(state->r0v);
  }
};

/// t.s and t.t
template <class T>
struct BicgstabDots {
  static constexpr int sums = 2;
  BicgstabState* state;
  const T *t, *s;

  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD NoCoefficients begin() const { return {}; }
  struct Loaded {
    T t, s;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {t[i], s[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t, const Loaded& at, NoCoefficients, Sums& total) const {
    total.add(0, double(at.t) * double(at.s));
    total.add(1, double(at.t) * double(at.t));
  }
  NEWEL_HD void end(const double* totals) const {
    state->ts = totals[0];
    state->tt = totals[1];
  }
};

/// omega = t.s / t.t, x = x + alpha p^ + omega s^, r = s - omega t (in place), r.r and the next rho = r0.r
template <class T>
struct BicgstabUpdate {
  static constexpr int sums = 2;
  BicgstabState* state;
  const T *ph, *sh, *t, *r0;
  T *x, *r;

  struct Coefficients {
    T alpha, omega;
  };
  NEWEL_HD double omega() const { return bicgstab_omega(state->ts, state->tt); }
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const { return {static_cast<T>(state->alpha), static_cast<T>(omega())}; }
  struct Loaded {
    T ph, sh, t, r0, x, r;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {ph[i], sh[i], t[i], r0[i], x[i], r[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, Coefficients c, Sums& total) const {
    x[i] = bicgstab_next_x(at.x, c.alpha, at.ph, c.omega, at.sh);
    const T ri = bicgstab_next_r(at.r, c.omega, at.t);
    r[i] = ri;
    total.add(0, double(ri) * double(ri));
    total.add(1, double(at.r0) * double(ri));
  }
  NEWEL_HD void end(const double* totals) const {
    BicgstabState& s = *state;
    s.omega = omega();
    s.r_norm = sqrt(totals[0]);
    s.rho_old = s.rho;
    s.rho = totals[1];
    s.first = false;
    s.monitor.finish_iteration(s.r_norm);
    if (!s.monitor.running()) return;
    const double step = s.tt > 0 ? fabs(s.ts) / sqrt(s.tt) : 0.0;
    s.monitor.event = bicgstab_breakdown(s.epsilon, step, sqrt(s.ss), s.rho, s.r0_norm, s.r_norm);
  }
};

}  // namespace newel::detail
