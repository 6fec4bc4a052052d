// SPDX-License-Identifier: Apache-2.0
/// CG's recurrence, however its vectors are stored: the scalars of a step, the events that end it, and what becomes
/// of an element. For vectors (cg_steps.hpp), columns (batch_cg_steps.hpp) and one kernel (resident_cg_device.cuh).
/// Internal.
#pragma once

#include <cmath>

#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// Whether a step can be taken with rho = r.M r and p.q, q = A p.
NEWEL_HD bool cg_is_sound(double rho, double pq) { return rho > 0 && pq > 0 && pq - pq == 0; }

NEWEL_HD bool cg_is_finite(double rho, double pq) { return rho - rho == 0 && pq - pq == 0; }

/// Why a step cannot be taken.
NEWEL_HD Event cg_breakdown(double rho, double pq) {
  if (!cg_is_finite(rho, pq)) return Event::not_finite;
  return rho <= 0 ? Event::precond_not_positive : Event::matrix_not_positive;
}

NEWEL_HD double cg_alpha(double rho, double pq) { return rho / pq; }
/// rho_old: rho of the step before; infinite before the first.
NEWEL_HD double cg_beta(double rho, double rho_old) { return rho / rho_old; }

/// x + alpha p. V is a number, or several columns' in a register, which are handed on by reference: how they would go
/// by value depends on the instructions that a function is compiled for.
template <class V>
NEWEL_HD void cg_next_x(const V& x, const V& alpha, const V& p, V& next) {
  next = x + alpha * p;
}

/// z + beta p
template <class V>
NEWEL_HD void cg_next_p(const V& z, const V& beta, const V& p, V& next) {
  next = z + beta * p;
}

/// r - alpha q
template <class V>
NEWEL_HD void cg_next_r(const V& r, const V& alpha, const V& q, V& next) {
  next = r - alpha * q;
}

/// Of the last step: rho = r.M r before it, and its length along p.
struct CgScalars {
  double rho = 0, alpha = 0;
};

/// The scalars of a step that ends, wherever a solve stores them.
struct CgStepScalars {
  double rho, pq;
  double &alpha, &rho_old, &rr, &rz;
  MonitorState& monitor;

  /// After r -= alpha q: totals has the new r.r, and with `scaled` r.d r, the new rho. Or an event, and alpha = 0.
  template <bool scaled>
  NEWEL_HD void finish(const double* totals) const {
    if (!cg_is_sound(rho, pq)) {
      alpha = 0;
      monitor.event = cg_breakdown(rho, pq);
      return;
    }
    alpha = cg_alpha(rho, pq);
    monitor.gained += alpha * rho;
    rho_old = rho;
    rr = totals[0];
    if constexpr (scaled) rz = totals[1];
    monitor.finish_iteration(sqrt(totals[0]));
  }
};

}  // namespace newel::detail
