// SPDX-License-Identifier: Apache-2.0
/// The vector steps of CG and its scalars, for both spaces. Internal.
#pragma once

#include <cmath>

#include "core/vectors/vector_step.hpp"
#include "solver/krylov/steps/cg_recurrence.hpp"
#include "solver/krylov/steps/cg_spectrum.hpp"

namespace newel::detail {

/// Scalars of the recurrence, in S.
struct CgState {
  MonitorState monitor;
  double rr;       ///< r.r
  double rz;       ///< r.M r, left by the preconditioner or by the update that holds its diagonal
  double rho_old;  ///< r.M r of the iteration before; infinite before the first: then beta is 0
  double pq;       ///< p.A p
  double alpha;    ///< what x still lacks is alpha p
  double scratch;
  bool preconditioned;

  NEWEL_HD double rho() const { return preconditioned ? rz : rr; }
  NEWEL_HD bool sound() const { return cg_is_sound(rho(), pq); }
  NEWEL_HD CgStepScalars step() { return {rho(), pq, alpha, rho_old, rr, rz, monitor}; }
};

/// The state in front of the first iteration, made in S from r: for iterations that the host does not poll.
template <class T>
struct CgStart {
  static constexpr int sums = 1;
  CgState start;  ///< all but the residual
  CgState* state;
  const T* r;

  NEWEL_HD bool active() const { return true; }
  NEWEL_HD NoCoefficients begin() const { return {}; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    total.add(0, double(r[i]) * double(r[i]));
  }
  NEWEL_HD void end(const double* totals) const {
    const double residual = sqrt(totals[0]);
    *state = start;
    state->rr = residual * residual;  // as where the host has the norm
    state->monitor.residual = residual;
    if (!(residual - residual == 0)) state->monitor.event = Event::not_finite;
    if (residual == 0) state->monitor.event = Event::tolerance_met;
  }
};

/// x = x + alpha p, p = z + (rho / rho_old) p; with `scaled`, z = d r is formed on the way. Before the first
/// iteration alpha and p are 0.
template <class T, bool scaled>
struct CgDirection {
  static constexpr int sums = 0;
  const CgState* state;
  const T *d, *z;
  T *p, *x;

  struct Coefficients {
    T alpha, beta;
  };
  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD Coefficients begin() const {
    return {static_cast<T>(state->alpha), static_cast<T>(cg_beta(state->rho(), state->rho_old))};
  }
  struct Loaded {
    T d, z, p, x;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {scaled ? d[i] : T(1), z[i], p[i], x[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, Coefficients c, Sums&) const {
    cg_next_x(at.x, c.alpha, at.p, x[i]);
    cg_next_p(scaled ? at.d * at.z : at.z, c.beta, at.p, p[i]);
  }
  NEWEL_HD void end(const double*) const {}
};

/// alpha = rho / p.q, r = r - alpha q, r.r, with `scaled` r.d r too; or an event where rho or p.q is not positive
template <class T, bool scaled>
struct CgUpdate {
  static constexpr int sums = scaled ? 2 : 1;
  CgState* state;
  CgCoefficients* coefficients;  ///< of the first iterations
  const T *d, *q;
  T* r;

  NEWEL_HD bool active() const { return state->monitor.running(); }
  NEWEL_HD T begin() const { return state->sound() ? static_cast<T>(cg_alpha(state->rho(), state->pq)) : T(0); }
  struct Loaded {
    T d, q, r;
  };
  NEWEL_HD Loaded load(std::int64_t i) const { return {scaled ? d[i] : T(1), q[i], r[i]}; }
  template <class Sums>
  NEWEL_HD void finish(std::int64_t i, const Loaded& at, T alpha, Sums& total) const {
    T ri;
    cg_next_r(at.r, alpha, at.q, ri);
    r[i] = ri;
    total.add(0, double(ri) * double(ri));
    if constexpr (scaled) total.add(1, double(ri) * double(at.d * ri));
  }
  NEWEL_HD void end(const double* totals) const {
    const CgStepScalars step = state->step();
    const double beta = cg_beta(step.rho, step.rho_old);
    const int iteration = state->monitor.iteration;
    step.finish<scaled>(totals);
    note_coefficients(coefficients, iteration, step.alpha, beta);
  }
};

/// x = x + alpha p, once the iteration has ended: what the next direction would have done.
template <class T>
struct CgLastStep {
  static constexpr int sums = 0;
  const CgState* state;
  const T* p;
  T* x;

  NEWEL_HD bool active() const { return state->alpha != 0; }
  NEWEL_HD T begin() const { return static_cast<T>(state->alpha); }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, T alpha, Sums&) const {
    cg_next_x(x[i], alpha, p[i], x[i]);
  }
  NEWEL_HD void end(const double*) const {}
};

}  // namespace newel::detail
