// SPDX-License-Identifier: Apache-2.0
// How a solve has ended, and the reason: the outcome of the convergence monitor.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {

Failure stagnation_at(bool attainable, double relative_residual) {
  return {attainable ? Cause::rounding : Cause::no_progress, Subject::none, relative_residual};
}

Attempt only_attempt(const SolveReport& report) {
  return {report.solver,  report.status, report.iterations,          report.true_residual,
          report.seconds, report.reason, report.attainable_residual, report.method,
          report.failure};
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::conclude(Status status, Failure failure) {
  if (concluded_) return;
  concluded_ = true;
  report_.status = status;
  report_.failure = std::move(failure);
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::conclude(Event event) {
  switch (event) {
    case Event::iterations_spent:
      return conclude(Status::max_iterations, {Cause::iteration_limit});
    case Event::not_finite:
      return conclude(Status::not_finite, {Cause::not_finite_iteration});
    case Event::matrix_not_positive:
      return conclude(Status::not_positive_definite, {Cause::matrix_not_positive});
    case Event::precond_not_positive:
      return conclude(Status::not_positive_definite, {Cause::precond_not_positive});
    case Event::rho_vanished:
      return conclude(Status::breakdown, {Cause::rho_vanished});
    case Event::omega_vanished:
      return conclude(Status::breakdown, {Cause::omega_vanished});
    case Event::krylov_space_exhausted:
      return conclude(Status::breakdown, {Cause::krylov_space_exhausted});
    case Event::diverged:
      if (known_symmetric_) {
        return conclude(Status::stagnation,
                        {Cause::growth_beyond_digits, Subject::none, report_.relative(seen_.residual)});
      }
      return conclude(Status::diverged,
                      {Cause::residual_grew, Subject::none, report_.relative(seen_.residual), 0, found_fault_});
    case Event::none:
      if (interrupted_ == Status::stopped_by_caller) return conclude(interrupted_, {Cause::stopped_by_caller});
      if (interrupted_ == Status::time_limit) return conclude(interrupted_, {Cause::time_limit});
      return;
    case Event::tolerance_met:
      return;
  }
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::conclude(Event event, Span<T, S> v) {
  const bool indefinite = event == Event::matrix_not_positive || event == Event::precond_not_positive;
  const bool rounding = report_.recurrence_residual <= std::numeric_limits<T>::epsilon() * report_.rhs_norm;
  if (!concluded_ && indefinite && rounding && !form_residual(v)) conclude_stagnation();
  conclude(event);
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::conclude_divergence() {
  conclude(Status::diverged, {Cause::residual_grew, Subject::none, report_.relative(residual_)});
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::has_grown() const {
  const Cause cause = report_.failure.cause;
  return cause == Cause::residual_grew || cause == Cause::growth_beyond_digits;
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::conclude_stagnation() {
  stagnated_ = stagnated_ || !concluded_;
  conclude(Status::stagnation);
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::conclude_exhaustion() {
  exhausted_ = exhausted_ || !concluded_;
  conclude_stagnation();
}

// To rounding, by a residual that is none itself: no x of this precision does much better, unless it has grown so far
// that any would look like that.
template <class T, Space S>
bool ConvergenceMonitor<T, S>::rows_are_solved() const {
  constexpr double of_row = 256 * static_cast<double>(std::numeric_limits<T>::epsilon()), most_of_rhs = 1e-2;
  return judged_.proven && judged_.worst_row <= of_row && judged_.norm <= most_of_rhs * report_.rhs_norm;
}

// Of the x that is returned. An x that has diverged has a large bound of its own, which says nothing of the matrix.
template <class T, Space S>
void ConvergenceMonitor<T, S>::explain_stagnation(Span<T, S> v, Span<T, S> w) {
  const double eps = std::numeric_limits<T>::epsilon();
  const double rounding = rounding_of_product<T, S>(args_->ctx, args_->A, args_->x, v, w, scratch_);
  const bool of_rounding = residual_ <= 100 * rounding;
  const bool justified =
      of_rounding && report_.tolerance <= 10 * rounding && residual_ <= 0.5 * std::sqrt(eps) * report_.rhs_norm;
  report_.attainable_residual = justified ? residual_ : 0;
  report_.failure = stagnation_at(justified, report_.relative(residual_));
  if (justified) return;
  if (rows_are_solved()) {
    report_.failure.cause = Cause::rounding_of_x;
  } else if (exhausted_ && !of_rounding) {
    report_.status = Status::breakdown;
    report_.failure = {Cause::krylov_space_exhausted};
  }
}

// Where A has entries that are not finite, b - A 0 is none either: the report is as if it had been formed first.
template <class T, Space S>
void ConvergenceMonitor<T, S>::doubt_residual_at_zero(Span<T, S> r) {
  if (!from_zero_ || report_.status != Status::not_finite || !(norm(args_->x) == 0)) return;
  form_residual(r);
  if (std::isfinite(residual_)) return;
  report_.initial_residual = report_.recurrence_residual = residual_;
  report_.history = {residual_};
  report_.iterations = report_.restarts = report_.second_passes = 0;
  report_.failure = {Cause::not_finite_residual};
}

template <class T, Space S>
SolveReport ConvergenceMonitor<T, S>::close(Span<T, S> r, Span<T, S> work) {
  doubt_residual_at_zero(r);
  if (!residual_known_) form_residual(r);
  report_.true_residual = residual_;
  report_.residual_error_bound = judged_.error_bound;
  report_.twice_precision = judged_.proven;
  report_.row_residual = judged_.worst_row;
  if (report_.status != Status::converged && concluded_ && meets_tolerance() &&
      report_.status != Status::not_finite) {
    // The iteration was ended early, and its x is good all the same: the true residual decides.
    report_.status = Status::converged;
    report_.failure = {};
  }
  if (stagnated_ && report_.status == Status::stagnation) explain_stagnation(r, work);
  report_.reason = text_of(report_.failure);
  report_.seconds = seconds();
  report_.attempts = {only_attempt(report_)};
  return std::move(report_);
}

#define X(T, S)                                                                       \
  template void ConvergenceMonitor<T, S>::conclude(Status, Failure);                  \
  template void ConvergenceMonitor<T, S>::conclude(Event);                            \
  template void ConvergenceMonitor<T, S>::conclude(Event, Span<T, S>);                \
  template void ConvergenceMonitor<T, S>::conclude_divergence();                      \
  template bool ConvergenceMonitor<T, S>::has_grown() const;                          \
  template void ConvergenceMonitor<T, S>::conclude_stagnation();                      \
  template void ConvergenceMonitor<T, S>::conclude_exhaustion();                      \
  template void ConvergenceMonitor<T, S>::doubt_residual_at_zero(Span<T, S>);         \
  template bool ConvergenceMonitor<T, S>::rows_are_solved() const;                    \
  template void ConvergenceMonitor<T, S>::explain_stagnation(Span<T, S>, Span<T, S>); \
  template SolveReport ConvergenceMonitor<T, S>::close(Span<T, S>, Span<T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
