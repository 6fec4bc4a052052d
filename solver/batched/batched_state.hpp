// SPDX-License-Identifier: Apache-2.0
/// BatchedState: the course of one system of a batch, and how b - A x judges it. Internal.
#pragma once

#include <cmath>

#include "solver/batched/batched_problem.hpp"
#include "solver/krylov/steps/least_gain.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// What every thread of a team knows of a system while its recurrence runs.
struct BatchedState {
  double tolerance = 0, growth_limit = 0;
  double residual = 0;  ///< of the recurrence
  int iterations = 0;
  Event event = Event::none;
  bool ended = true;

  /// Whether the recurrence makes steps.
  NEWEL_HD bool running() const { return !ended && event == Event::none; }

  /// After a step of the recurrence.
  NEWEL_HD void finish_iteration(const BatchedLimits& limits, double rr) {
    ++iterations;
    residual = sqrt(rr);
    event = event_of(residual, tolerance, iterations, limits.max_iterations);
    if (event == Event::none && residual > growth_limit) event = Event::diverged;
  }
};

/// The course of a system, which one thread of a team writes. A system iterates in rounds: a recurrence runs from
/// r = b - A x until an event ends it, then b - A x is computed again.
struct BatchedRecord {
  static constexpr double restart_gain = 0.5;  ///< what a restart has to leave at most of the residual

  BatchedOutcome outcome;
  double before;        ///< the true residual that the last round began with
  double growth_limit;  ///< of the residual
  Event event;          ///< that no step is made after
  int idle_rounds;
  bool is_first, ended;
  bool overflowed;  ///< x has left the range of T; zero takes its place

  /// What the next round begins with.
  NEWEL_HD BatchedState state() const {
    return {outcome.tolerance, growth_limit, before, outcome.iterations, event, ended};
  }

  NEWEL_HD void end(Status status, Cause cause) {
    outcome.status = status;
    outcome.cause = cause;
    ended = true;
  }

  /// Before the first round. `last`: how the attempt before ended, if there was one; size: the sum of |b_i|.
  NEWEL_HD void begin(const BatchedLimits& limits, int attempt, const BatchedOutcome& last, double bb, double size) {
    is_first = last.attempt == 0;
    ended = overflowed = false;
    event = Event::none;
    idle_rounds = 0;
    before = growth_limit = 0;
    outcome = last;
    outcome.attempt = attempt;
    outcome.cause = Cause::none;
    outcome.rhs_norm = sqrt(bb);
    outcome.tolerance = fmax(limits.rel_tol * outcome.rhs_norm, limits.abs_tol);
    if (!(size - size == 0)) return end(Status::not_finite, Cause::not_finite_input);
    if (!(bb - bb == 0)) return end(Status::not_finite, Cause::norm_overflows);
    if (size > 0 && outcome.rhs_norm < least_safe_norm) end(Status::not_finite, Cause::norm_underflows);
  }

  /// The first true residual of an attempt.
  NEWEL_HD void start(const BatchedLimits& limits, double rr, double epsilon) {
    if (ended) return;
    const double norm = sqrt(rr);
    outcome.true_residual = before = norm;
    if (is_first) outcome.initial_residual = norm;
    growth_limit = fmax(norm, outcome.rhs_norm) / epsilon;
    if (!(rr - rr == 0)) {
      end(Status::not_finite, Cause::not_finite_residual);
    } else if (norm <= outcome.tolerance) {
      end(Status::converged, Cause::none);
    } else if (outcome.iterations >= limits.max_iterations) {
      end(Status::max_iterations, Cause::iteration_limit);
    }
  }

  /// The true residual after a round: the end of the system, or the start of the next round. If it is not finite, the
  /// next round makes no step, and its residual is that of x = 0.
  NEWEL_HD void judge(const BatchedLimits& limits, const BatchedState& round, double rr) {
    if (ended) return;
    const double norm = sqrt(rr);
    const bool was_overflow = overflowed;
    outcome.iterations = round.iterations;
    overflowed = !(rr - rr == 0);
    if (overflowed && !was_overflow) {
      event = Event::not_finite;
      return;
    }
    outcome.true_residual = norm;
    const bool cycle = round.event == Event::recurrence_spent;
    const bool gained = norm < (cycle ? 1 - least_gain : restart_gain) * before;
    idle_rounds = gained ? 0 : idle_rounds + 1;
    if (was_overflow) return end(Status::not_finite, Cause::not_finite_iteration);
    if (norm <= outcome.tolerance) return end(Status::converged, Cause::none);
    if (round.iterations >= limits.max_iterations) return end(Status::max_iterations, Cause::iteration_limit);
    if (idle_rounds >= (cycle ? 2 : 1)) return end_by(round.event);
    before = norm;
  }

 private:
  NEWEL_HD void end_by(Event last) {
    switch (last) {
      case Event::matrix_not_positive:
        return end(Status::not_positive_definite, Cause::matrix_not_positive);
      case Event::precond_not_positive:
        return end(Status::not_positive_definite, Cause::precond_not_positive);
      case Event::rho_vanished:
        return end(Status::breakdown, Cause::rho_vanished);
      case Event::omega_vanished:
        return end(Status::breakdown, Cause::omega_vanished);
      case Event::krylov_space_exhausted:
        return end(Status::breakdown, Cause::krylov_space_exhausted);
      case Event::not_finite:
        return end(Status::not_finite, Cause::not_finite_iteration);
      case Event::diverged:
        return end(Status::diverged, Cause::residual_grew);
      case Event::tolerance_met:
        return end(Status::stagnation, Cause::rounding);
      default:
        return end(Status::stagnation, Cause::no_progress);
    }
  }
};

}  // namespace newel::detail
