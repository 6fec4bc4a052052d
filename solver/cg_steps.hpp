// SPDX-License-Identifier: Apache-2.0
/// The vector steps of CG and its scalars, for both spaces. Internal.
#pragma once

#include <cmath>

#include <purlin/core/vector_step.hpp>
#include <purlin/solver/monitor.hpp>

namespace purlin::detail {

/// Scalars of the recurrence, in S.
struct CgState {
  Monitor monitor;
  double rr;       ///< r.r
  double rz;       ///< r.M r, left by the preconditioner
  double rho_old;  ///< r.M r of the iteration before
  double pq;       ///< p.A p
  double scratch;
  bool preconditioned;
  bool first;  ///< no direction yet: p = z

  PURLIN_HD double rho() const { return preconditioned ? rz : rr; }
};

/// p = z + (rho / rho_old) p
template <class T>
struct CgDirection {
  static constexpr int sums = 0;
  const CgState* state;
  const T* z;
  T* p;

  struct Coefficients {
    T beta;
    bool first;
  };
  PURLIN_HD bool active() const { return state->monitor.running(); }
  PURLIN_HD Coefficients begin() const {
    return {state->first ? T(0) : static_cast<T>(state->rho() / state->rho_old), state->first};
  }
  template <class Sums>
  PURLIN_HD void element(std::int64_t i, Coefficients c, Sums&) const {
    p[i] = c.first ? z[i] : z[i] + c.beta * p[i];
  }
  PURLIN_HD void end(const double*) const {}
};

/// alpha = rho / p.q, x = x + alpha p, r = r - alpha q, r.r; or an event where rho or p.q is not positive
template <class T>
struct CgUpdate {
  static constexpr int sums = 1;
  CgState* state;
  const T *p, *q;
  T *x, *r;

  struct Coefficients {
    T alpha;
    bool sound;
  };
  PURLIN_HD bool active() const { return state->monitor.running(); }
  PURLIN_HD Coefficients begin() const {
    const double rho = state->rho(), pq = state->pq;
    const bool sound = rho > 0 && pq > 0;
    return {sound ? static_cast<T>(rho / pq) : T(0), sound};
  }
  template <class Sums>
  PURLIN_HD void element(std::int64_t i, Coefficients c, Sums& total) const {
    if (!c.sound) return;
    x[i] += c.alpha * p[i];
    const T ri = r[i] - c.alpha * q[i];
    r[i] = ri;
    total.add(0, double(ri) * double(ri));
  }
  PURLIN_HD void end(const double* totals) const {
    const double rho = state->rho(), pq = state->pq;
    if (!(rho > 0) || !(pq > 0)) {
      const bool finite = rho - rho == 0 && pq - pq == 0;
      state->monitor.event = !finite    ? Event::not_finite
                             : rho <= 0 ? Event::precond_not_positive
                                        : Event::matrix_not_positive;
      return;
    }
    state->rho_old = rho;
    state->rr = totals[0];
    state->first = false;
    state->monitor.finish_iteration(sqrt(totals[0]));
  }
};

}  // namespace purlin::detail
