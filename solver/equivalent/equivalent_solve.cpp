// SPDX-License-Identifier: Apache-2.0
// What a solve of another system says of the one that was given.
#include "solver/equivalent/equivalent_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/limits_left.hpp"

namespace newel::detail {
namespace {

// Corrections of x by a solve with its residual, and how accurately these need to be solved at most.
constexpr int most_corrections = 8;
constexpr double least_correction = 1e-8;
constexpr int iterations_of_correction = 100;  // or twice those of the solve

// Of two norms; 1 where there is none.
double ratio(double a, double b) { return b > 0 && std::isfinite(b) && std::isfinite(a) ? a / b : 1; }

bool ended_by_limit(Status status) {
  return status == Status::max_iterations || status == Status::time_limit || status == Status::stopped_by_caller;
}

// What remains of B y = c for every y says nothing of A x = b, which may have other units, and other rows.
void forget_least_residual(SolveReport& report) {
  const auto forget = [](Failure& failure) {
    if (failure.cause == Cause::singular) failure.level = 0;
  };
  forget(report.failure);
  for (Attempt& attempt : report.attempts) forget(attempt.failure);
}

// A progress of B y = c, in the units of b.
ProgressFn in_units_of_b(const ProgressFn& progress, double b_over_c, double tolerance) {
  if (!progress) return {};
  return [&progress, b_over_c, tolerance](Progress now) {
    now.residual *= b_over_c;
    now.tolerance = tolerance;
    return progress(now);
  };
}

}  // namespace

template <class T, Space S>
ResidualUnits EquivalentSolve<T, S>::units_of(Span<const T, S> b, Span<const T, S> x, InitialGuess guess) {
  ResidualUnits units;
  units.rhs_norm = units.initial_residual = of_.norm_of(b);
  units.tolerance = std::max(stop_.rel_tol * units.rhs_norm, stop_.abs_tol);
  const bool has_norm = units.rhs_norm > 0 && std::isfinite(units.rhs_norm);
  units.relative = has_norm ? units.tolerance / units.rhs_norm : stop_.rel_tol;
  // A tolerance below rounding is one of large rows alone.
  units.row_relative = std::max(units.relative, 64.0 * std::numeric_limits<T>::epsilon());
  units.row_norm = of_.row_norm(units, b, true);
  if (guess == InitialGuess::zero) return units;
  SolveReport of_guess;
  of_guess.rhs_norm = units.rhs_norm;
  vectors_.judge.judge(of_.ctx_, A_, of_guess, b, x);
  units.initial_residual = of_guess.true_residual;
  return units;
}

// What a residual of B is multiplied by in the units of b.
template <class T, Space S>
double EquivalentSolve<T, S>::over(const ResidualUnits& units, double of_c) const {
  return of_.same_units() ? 1 : ratio(units.rhs_norm, of_c);
}

// In the same units the tolerance is that of the smaller right-hand side: `over` is |b| / |c|.
template <class T, Space S>
StopCriterion EquivalentSolve<T, S>::stop_of_inner(double relative, double over) const {
  StopCriterion inner = stop_;
  inner.rel_tol = of_.same_units() ? stop_.rel_tol * std::min(1.0, over) : relative;
  if (!of_.same_units()) inner.abs_tol = 0;
  return inner;
}

// From what is asked of x, as a factor: at most 1 if both tolerances are met.
template <class T, Space S>
double EquivalentSolve<T, S>::distance(const ResidualUnits& units, const SolveReport& report) const {
  const double reached = report.true_residual + report.residual_error_bound;
  const double given = reached <= units.tolerance ? 0 : units.tolerance > 0 ? reached / units.tolerance : INFINITY;
  const bool judges_rows = units.row_norm > 0;
  return std::max(given, judges_rows ? report.scaled_residual / units.row_relative : 0);
}

// The report of a solve of B y = c as one of A x = b: x is judged, and what is known of earlier iterates is taken
// relative to their right-hand side.
template <class T, Space S>
SolveReport EquivalentSolve<T, S>::judged(ResidualUnits& units, double b_over_c, SolveReport report,
                                          Span<const T, S> b, Span<const T, S> x) {
  for (double* value : {&report.recurrence_residual, &report.attainable_residual}) *value *= b_over_c;
  for (double& residual : report.history) residual *= b_over_c;
  for (Attempt& attempt : report.attempts) {
    attempt.true_residual *= b_over_c;
    attempt.attainable_residual *= b_over_c;
  }
  report.rhs_norm = units.rhs_norm;
  report.tolerance = units.tolerance;
  report.initial_residual = units.initial_residual;
  const bool was_finite = std::isfinite(report.true_residual);
  vectors_.judge.judge(of_.ctx_, A_, report, b, x);
  report.attempts.back().true_residual = report.true_residual;
  if (!report.history.empty()) report.history.front() = units.initial_residual;
  if (units.row_norm > 0)
    report.scaled_residual = of_.row_norm(units, vectors_.judge.image.cspan(), false) / units.row_norm;
  of_.name_rows(report);
  forget_least_residual(report);
  const bool of_c_alone = report.failure.cause == Cause::not_finite_input &&
                          report.failure.subject == Subject::right_hand_side && std::isfinite(units.rhs_norm);
  // An x that is not the solution of the other system says nothing of the range of this one's.
  const bool solved = report.converged() || ended_by_rounding(report);
  if (of_c_alone || (solved && was_finite && !std::isfinite(report.true_residual))) {
    overrule(report, Status::not_finite, {Cause::solution_out_of_range});
  } else if (was_finite && !std::isfinite(report.true_residual) && !ended_by_limit(report.status)) {
    overrule(report, Status::not_finite, {Cause::not_finite_iteration});
  }
  return report;
}

// x += the solution for b - A x, until the tolerances are met or x comes no closer. `whole` is the report of x,
// whose residual has just been formed.
template <class T, Space S>
SolveReport EquivalentSolve<T, S>::refined(ResidualUnits& units, SolveReport whole, Span<const T, S> b,
                                           Span<T, S> x) {
  const auto may_go_on = [](const SolveReport& report) {
    return report.converged() || report.status == Status::stagnation;
  };
  auto& [c, y, best, correction, judge] = vectors_;
  double far = distance(units, whole);
  const int most_iterations = std::max(iterations_of_correction, 2 * whole.iterations);
  for (int k = 0; k < most_corrections && far > 1 && std::isfinite(far) && may_go_on(whole); ++k) {
    copy<T>(of_.ctx_, Span<const T, S>(x), best.span());
    const Array<T, S>& r = judge.image;
    const double before = of_.norm_of(r.cspan());
    const int shift = of_.carry_rhs(r.cspan(), c.span());
    const double of_c = of_.norm_of(c.cspan());
    if (!(of_c > 0) || !std::isfinite(of_c)) break;
    const double b_over_c = of_.same_units() ? 1 : before / of_c;
    const double relative = std::clamp(0.5 / far, least_correction, 0.1);
    StopCriterion left = limits_left(stop_, whole.iterations, whole.seconds);
    left.rel_tol = relative;
    left.abs_tol = 0;
    const int allowed = left.max_iterations;
    left.max_iterations = std::min(allowed, most_iterations);
    of_.inner().set_stop_criterion(left);
    SolveReport next = of_.inner().solve(c.cspan(), y.span(), in_units_of_b(progress_, b_over_c, units.tolerance),
                                         InitialGuess::zero);
    of_.carry_back(shift, r.cspan(), y.cspan(), correction.span());
    axpy<T, S>(of_.ctx_, T(1), correction.cspan(), x);
    next = judged(units, b_over_c, std::move(next), b, Span<const T, S>(x));
    if (next.status == Status::max_iterations &&
        next.iterations < allowed) {  // the limit of corrections, no caller's
      overrule(next, Status::stagnation, stagnation_at(false, next.relative(next.true_residual)));
    }
    const double now = distance(units, next);
    if (!(now < far)) {
      copy<T>(of_.ctx_, best.cspan(), x);
      take_residual(next, whole);
      next.scaled_residual = whole.scaled_residual;
      next.attempts.back().true_residual = next.true_residual;
    }
    ++next.refinements;
    if (!whole.changed.empty()) next.changed = whole.changed + (next.changed.empty() ? "" : "; ") + next.changed;
    append_attempt(whole, std::move(next));
    if (!(now <= 0.5 * far)) break;
    far = now;
  }
  const bool failed = whole.status != Status::max_iterations && whole.status != Status::time_limit &&
                      whole.status != Status::stopped_by_caller;
  const bool met = whole.true_residual + whole.residual_error_bound <= units.tolerance;
  if (whole.converged() && !met) {
    overrule(whole, Status::stagnation, stagnation_at(false, whole.relative(whole.true_residual)));
  } else if (met && failed) {
    overrule(whole, Status::converged, {});
  }
  write_reasons(whole, "");
  return whole;
}

template <class T, Space S>
SolveReport EquivalentSolve<T, S>::run(Span<const T, S> b, Span<T, S> x, InitialGuess guess) {
  Array<T, S>&c = vectors_.c, &y = vectors_.y;
  ResidualUnits units = units_of(b, Span<const T, S>(x), guess);
  const int shift = of_.carry_rhs(b, c.span());
  if (guess == InitialGuess::in_x) of_.carry_guess(shift, Span<const T, S>(x), y.span());
  const double of_c = of_.norm_of(c.cspan()), b_over_c = over(units, of_c);
  of_.inner().set_stop_criterion(stop_of_inner(units.relative, ratio(units.rhs_norm, of_c)));
  SolveReport report =
      of_.inner().solve(c.cspan(), y.span(), in_units_of_b(progress_, b_over_c, units.tolerance), guess);
  of_.carry_back(shift, b, y.cspan(), x);
  report = judged(units, b_over_c, std::move(report), b, Span<const T, S>(x));
  return refined(units, std::move(report), b, x);
}

// The system of B knows one tolerance for all columns; what that leaves is refined alone.
template <class T, Space S>
std::vector<SolveReport> EquivalentSolve<T, S>::run_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                            InitialGuess guess) {
  const std::int64_t n = vectors_.best.size(), m = vectors_.c.size();
  Array<T, S> cs(of_.ctx_, m * columns), ys(of_.ctx_, m * columns);
  const auto column_of = [](auto vectors, Index k, std::int64_t length) {
    return vectors.subspan(k * length, length);
  };
  std::vector<ResidualUnits> units;
  std::vector<int> shifts;
  std::vector<double> norms;
  double relative = std::numeric_limits<double>::infinity(), least = relative;
  for (Index k = 0; k < columns; ++k) {
    const Span<const T, S> b_k = column_of(b, k, n), x_k = column_of(Span<const T, S>(x), k, n);
    const Span<T, S> c_k = column_of(cs.span(), k, m);
    units.push_back(units_of(b_k, x_k, guess));
    shifts.push_back(of_.carry_rhs(b_k, c_k));
    norms.push_back(of_.norm_of(c_k));
    if (guess == InitialGuess::in_x) of_.carry_guess(shifts.back(), x_k, column_of(ys.span(), k, m));
    relative = std::min(relative, units.back().relative);
    least = std::min(least, ratio(units.back().rhs_norm, norms.back()));
  }
  of_.inner().set_stop_criterion(stop_of_inner(relative, least));
  std::vector<SolveReport> reports = of_.inner().solve_columns(cs.cspan(), ys.span(), columns, progress_, guess);
  for (Index k = 0; k < columns; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Span<const T, S> b_k = column_of(b, k, n);
    const Span<T, S> x_k = column_of(x, k, n);
    of_.carry_back(shifts[at], b_k, column_of(ys.cspan(), k, m), x_k);
    reports[at] = judged(units[at], over(units[at], norms[at]), std::move(reports[at]), b_k, Span<const T, S>(x_k));
    reports[at] = refined(units[at], std::move(reports[at]), b_k, x_k);
  }
  return reports;
}

#define X(T, S) template class EquivalentSolve<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
