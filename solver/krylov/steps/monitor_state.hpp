// SPDX-License-Identifier: Apache-2.0
/// The state that a recurrence keeps in S: iteration count, latest residual, why it stopped. Internal.
#pragma once

#include <limits>
#include <type_traits>

#include "core/vectors/host_device.hpp"

namespace newel::detail {

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
  recurrence_spent,  ///< it can go no further; another may, from b - A x
  diverged,
};

/// Below, the squares of a vector's entries lose digits or vanish.
constexpr double least_safe_norm = 1e-140;

/// Growth of CG's residual, over max(|b|, |b - A x0|), from which its cause is tested. For a symmetric positive
/// definite A it is at most the square root of A's condition number; of real systems it hardly grows.
constexpr double first_growth = 100;

/// Growth that leaves no digit of an x that the iteration has passed through.
template <class T>
constexpr double most_growth = 1 / static_cast<double>(std::numeric_limits<T>::epsilon());

/// The residual of a guess, over max(1, |b| / this), above which a solve begins at zero: squares leave the range.
template <class T>
constexpr double most_of_guess = std::is_same_v<T, double> ? 1e150 : 1e35;

/// What a residual after `iteration` iterations means.
NEWEL_HD Event event_of(double residual, double tolerance, int iteration, int max_iterations) {
  if (!(residual - residual == 0)) return Event::not_finite;
  if (residual <= tolerance) return Event::tolerance_met;
  return iteration >= max_iterations ? Event::iterations_spent : Event::none;
}

/// Stored with the solver's scalars in S. Steps do nothing once an event is set, so that iterations queued after it
/// change nothing, and counts and histories are exact whenever the host polls.
struct MonitorState {
  static constexpr int max_between_polls = 64;

  double tolerance;
  double growth_limit;  ///< a residual above it is divergence; infinite: none is
  double residual;
  double gained;  ///< by CG: see EnergyGains
  int iteration;
  int max_iterations;
  Event event;
  double recent[max_between_polls];  ///< residual after iteration k at k % 64

  NEWEL_HD bool running() const { return event == Event::none; }

  /// Called once an iteration, by the step that knows the new residual.
  NEWEL_HD void finish_iteration(double new_residual) {
    ++iteration;
    residual = new_residual;
    recent[iteration % max_between_polls] = new_residual;
    event = event_of(new_residual, tolerance, iteration, max_iterations);
    if (event != Event::not_finite && new_residual > growth_limit) event = Event::diverged;
  }
};

}  // namespace newel::detail
