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
    if (!(new_residual - new_residual == 0)) {
      event = Event::not_finite;
    } else if (new_residual <= tolerance) {
      event = Event::tolerance_met;
    } else if (iteration >= max_iterations) {
      event = Event::iterations_spent;
    }
  }
};

}  // namespace purlin::detail
