// SPDX-License-Identifier: Apache-2.0
/// BiCGStab's recurrence, however its vectors are stored: the scalars of a step, the events that end it, and what
/// becomes of an element. For vectors (bicgstab_steps.hpp) and one kernel (resident_bicgstab_device.cuh). Internal.
#pragma once

#include <cmath>

#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// Iterations between updates of the best x.
constexpr int iterations_between_keeping = 16;

/// rho = r0.r
NEWEL_HD double bicgstab_alpha(double rho, double r0v) { return rho / r0v; }
NEWEL_HD bool bicgstab_is_sound(double alpha) { return alpha - alpha == 0; }
/// Why alpha is not sound.
NEWEL_HD Event bicgstab_alpha_event(double r0v) { return r0v == 0 ? Event::rho_vanished : Event::not_finite; }

NEWEL_HD double bicgstab_omega(double ts, double tt) { return tt > 0 ? ts / tt : 0.0; }

NEWEL_HD double bicgstab_beta(double rho, double rho_old, double alpha, double omega) {
  return (rho / rho_old) * (alpha / omega);
}

/// Whether the recurrence can continue behind a step: with what that step took from s, |t.s| / |t|, with |s|, the
/// next rho = r0.r, |r0| and |r|, and the epsilon of the vectors' precision.
NEWEL_HD Event bicgstab_breakdown(double epsilon, double step, double s_norm, double rho, double r0_norm,
                                  double r_norm) {
  // A step below the rounding of s: the stabilising step does nothing, and the next beta would divide by omega.
  if (step <= epsilon * s_norm) return Event::omega_vanished;
  return fabs(rho) < epsilon * r0_norm * r_norm ? Event::rho_vanished : Event::none;
}

/// r + beta (p - omega v)
template <class T>
NEWEL_HD T bicgstab_next_p(T r, T beta, T p, T omega, T v) {
  return r + beta * (p - omega * v);
}

/// s = r - alpha v, and r = s - omega t
template <class T>
NEWEL_HD T bicgstab_next_r(T r, T alpha, T v) {
  return r - alpha * v;
}

/// x + alpha p^ + omega s^
template <class T>
NEWEL_HD T bicgstab_next_x(T x, T alpha, T ph, T omega, T sh) {
  return x + (alpha * ph + omega * sh);
}

}  // namespace newel::detail
