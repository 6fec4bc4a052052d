// SPDX-License-Identifier: Apache-2.0
/// The state that a recurrence keeps in S: iteration count, latest residual, why it stopped. Internal.
#pragma once

#include <purlin/core/host_device.hpp>

namespace purlin::detail {

/// Why a recurrence has stopped. The host decides what that means for the solve.
enum class Event : int {
  none,
  tolerance_met,
  iterations_spent,
  not_finite,
  matrix_not_positive,
  precond_not_positive,
  rho_vanished,
  omega_vanished,
  krylov_space_exhausted,
};

/// Below, the squares of a vector's entries lose digits or vanish.
constexpr double least_safe_norm = 1e-140;

/// What a residual after `iteration` iterations means.
PURLIN_HD Event event_of(double residual, double tolerance, int iteration, int max_iterations) {
  if (!(residual - residual == 0)) return Event::not_finite;
  if (residual <= tolerance) return Event::tolerance_met;
  return iteration >= max_iterations ? Event::iterations_spent : Event::none;
}

/// Kept beside the solver's scalars in S. Steps do nothing once an event is set, so that iterations that were queued
/// behind it change nothing and counts and histories are exact whenever the host looks.
struct Monitor {
  static constexpr int most_between_looks = 64;

  double tolerance;
  double residual;
  int iteration;
  int max_iterations;
  Event event;
  double recent[most_between_looks];  ///< residual after iteration k at k % 64

  PURLIN_HD bool running() const { return event == Event::none; }

  /// Called once an iteration, by the step that knows the new residual.
  PURLIN_HD void finish_iteration(double new_residual) {
    ++iteration;
    residual = new_residual;
    recent[iteration % most_between_looks] = new_residual;
    event = event_of(new_residual, tolerance, iteration, max_iterations);
  }
};

}  // namespace purlin::detail
