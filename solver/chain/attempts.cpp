// SPDX-License-Identifier: Apache-2.0
// Several attempts as one report.
#include "solver/chain/attempts.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <newel/solver/registry.hpp>
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {
namespace {

// Of another solver, a longer solve or another preconditioner: nothing is to be hoped for.
bool is_inconsistent(const Failure& failure) {
  return failure.cause == Cause::outside_range || failure.cause == Cause::zero_row ||
         failure.cause == Cause::inconsistent || failure.cause == Cause::singular;
}

// Of rows that were scaled and do not meet the relative tolerance.
std::string warning_of_scaled_rows(const SolveReport& report) {
  constexpr double least = 1e-12;  // a smaller tolerance is one of large rows alone
  const double tolerance = std::max(report.relative(report.tolerance), least);
  if (!(report.scaled_residual > tolerance) || !(report.rhs_norm > 0)) return "";
  char level[16];
  std::snprintf(level, sizeof level, "%.1e", report.scaled_residual);
  return "with each row divided by its largest entry, the relative residual is " + std::string(level) +
         ", above the tolerance";
}

}  // namespace

void overrule(SolveReport& report, Status status, const Failure& failure) {
  report.status = report.attempts.back().status = status;
  report.failure = report.attempts.back().failure = failure;
  report.reason = report.attempts.back().reason = text_of(failure);
  if (is_inconsistent(failure)) report.attainable_residual = report.attempts.back().attainable_residual = 0;
}

bool is_unsolvable(const SolveReport& report) {
  const Failure& failure = report.failure;
  return is_inconsistent(failure) && (failure.cause != Cause::singular || failure.level > 0);
}

bool worth_another_solver(const SolveReport& report) {
  if (is_inconsistent(report.failure) || report.failure.cause == Cause::slower_than_factors) return false;
  switch (report.status) {
    case Status::breakdown:
    case Status::not_positive_definite:
    case Status::stagnation:
    case Status::diverged:
      return true;
    case Status::not_finite:
      return report.failure.cause != Cause::not_finite_input && report.failure.cause != Cause::not_finite_residual;
    default:
      return false;
  }
}

bool may_help(const SolverMethod& method, const SolveReport& report) {
  if (method.demands != Demand::symmetric) return true;
  bool tried_definite = false, indefinite = false;
  for (const Attempt& attempt : report.attempts) {
    if (attempt.failure.asymmetric == Asymmetric::matrix) return false;
    indefinite = indefinite || attempt.failure.cause == Cause::matrix_not_positive;
    tried_definite =
        tried_definite || (!attempt.method.empty() && find_solver(attempt.method).demands == Demand::definite);
  }
  return indefinite || !tried_definite;
}

void settle_attainable(SolveReport& whole) {
  constexpr double agreement = 100;
  bool agreed = true;
  for (const Attempt& attempt : whole.attempts) {
    agreed = agreed && attempt.attainable_residual <= agreement * whole.true_residual;
  }
  for (Attempt& attempt : whole.attempts) {
    if (agreed || attempt.attainable_residual == 0) continue;
    attempt.attainable_residual = 0;
    attempt.failure = stagnation_at(false, whole.relative(attempt.true_residual));
  }
  if (whole.attainable_residual == 0) return;
  whole.attainable_residual = agreed ? whole.true_residual : 0;
  whole.failure = stagnation_at(agreed, whole.relative(whole.true_residual));
}

bool ended_by_rounding(const SolveReport& report) {
  return report.failure.cause == Cause::rounding || report.failure.cause == Cause::rounding_of_x;
}

bool worth_another_preconditioner(const SolveReport& report) {
  return worth_another_solver(report) && !ended_by_rounding(report);
}

bool worth_last_resort(const SolveReport& report, std::int64_t rows) {
  if (report.status == Status::max_iterations)
    return report.iterations >= std::min<std::int64_t>(rows, enough_to_judge);
  return worth_another_solver(report) || report.failure.cause == Cause::slower_than_factors;
}

void write_reasons(SolveReport& report, const std::string& preconditioner) {
  report.warning = report.converged() ? warning_of_rows(report.row_residual) : "";
  if (report.converged() && report.warning.empty()) report.warning = warning_of_scaled_rows(report);
  for (Attempt& attempt : report.attempts) {
    if (attempt.preconditioner.empty()) attempt.preconditioner = preconditioner;
    attempt.reason = text_of(attempt.failure, attempt.preconditioner);
  }
  report.reason =
      text_of(report.failure, report.attempts.empty() ? preconditioner : report.attempts.back().preconditioner);
}

void take_residual(SolveReport& report, const SolveReport& from) {
  report.true_residual = from.true_residual;
  report.residual_error_bound = from.residual_error_bound;
  report.twice_precision = from.twice_precision;
  report.row_residual = from.row_residual;
}

void append_attempt(SolveReport& whole, SolveReport&& next) {
  next.attempts.insert(next.attempts.begin(), whole.attempts.begin(), whole.attempts.end());
  // It began where the one before had ended.
  if (!whole.history.empty() && !next.history.empty()) next.history.erase(next.history.begin());
  next.history.insert(next.history.begin(), whole.history.begin(), whole.history.end());
  next.iterations += whole.iterations;
  next.resident = next.resident && whole.resident;
  next.initial_residual = whole.initial_residual;
  next.residual_replacements += whole.residual_replacements;
  next.refinements += whole.refinements;
  next.restarts += whole.restarts;
  next.second_passes += whole.second_passes;
  next.seconds += whole.seconds;
  whole = std::move(next);
}

}  // namespace newel::detail
