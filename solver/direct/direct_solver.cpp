// SPDX-License-Identifier: Apache-2.0
// The direct solver: factors, refinement, and what their failure says of A.
#include "solver/direct/direct_solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/chain/returned_x.hpp"
#include "solver/cost/too_long.hpp"
#include "solver/krylov/monitor/column_progress.hpp"
#include "solver/krylov/monitor/solved_rows.hpp"

namespace newel::detail {
namespace {

// Whether `now` is the residual of a better x than `best`. Of two x with much the same norm that is the one which
// solves every row to rounding, if the other does not: another solver may have left a small norm in rows that factors
// solve better, and only then is it known that nothing more can be attained.
template <class T>
bool is_better(const TrueResidual& now, const TrueResidual& best, double rhs_norm) {
  constexpr double much_the_same = 4;
  const bool solved = rows_are_solved<T>(now, rhs_norm), solved_before = rows_are_solved<T>(best, rhs_norm);
  if (solved == solved_before) return now.norm < best.norm;
  return solved ? now.norm < much_the_same * best.norm : much_the_same * now.norm < best.norm;
}

// What the report says of factors that others have taken the place of.
std::string replaced_text(const std::string& others, const std::string& before, bool completed, bool were_made,
                          double relative) {
  if (completed) return "factors " + others + " for " + before + ": the matrix is structurally singular";
  char residual[32];
  std::snprintf(residual, sizeof residual, "%.0e", relative);
  return "factors " + others + " for " + before +
         (were_made ? ", which left |b - A x| / |b| at " + std::string(residual)
                    : ", which met a zero pivot or one of the wrong sign");
}

}  // namespace

template <class T, Space S>
DirectSolver<T, S>::DirectSolver(const Context<S>& ctx, const SolverMatrix<T, S>& matrix,
                                 std::unique_ptr<SystemFactors<T, S>> factors)
    : old_of_new_(to_vector(ctx, matrix.order.old_of_new.cspan())),
      factors_(std::move(factors)),
      r_(ctx, matrix.a.rows),
      best_(ctx, matrix.a.rows),
      work_(ctx, matrix.a.rows),
      scratch_(ctx, 1) {
  if (matrix.a.value_map != nullptr) source_ = copy_of(ctx, *matrix.a.value_map);
  if (!source_.identity()) gathered_ = Array<T, S>(ctx, matrix.a.nnz());
  factors_->take_values(ctx, matrix.a.val);
  const std::string first = factors_->title();
  bool made = factors_->factorise(ctx);
  while (!made && factors_->next(ctx)) made = factors_->factorise(ctx);
  if (!made && factors_->seconds_of_refused() > 0) {
    throw TooLong(factors_->refused().back().error, factors_->seconds_of_refused());
  }
  if (made && factors_->title() != first)
    changed_ = replaced_text(factors_->title(), first, factors_->added() > 0, false, 0);
}

template <class T, Space S>
void DirectSolver<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  if (source_.identity()) return factors_->take_values(ctx, values);
  gather<T>(ctx, values, source_, gathered_.span());
  factors_->take_values(ctx, gathered_.cspan());
}

// True: the tolerance is met. Keeps the best x; the first step is the solve itself, unless `first` holds what it
// would add to x. A step from an x that is right but for its last digits may take one of them the wrong way, and the
// next one puts it right.
template <class T, Space S>
bool DirectSolver<T, S>::refine(const Context<S>& ctx, Monitor& monitor, Span<const T, S> first) {
  constexpr int most_steps = 20, most_in_vain = 3;
  constexpr double least_gain = 0.5;
  const Span<T, S> x = monitor.residual.system().x;
  const double rhs_norm = monitor.report.rhs_norm;
  TrueResidual best = monitor.residual.what();
  copy<T>(ctx, Span<const T, S>(x), best_.span());
  for (int step = 0, in_vain = 0; step < most_steps && in_vain < most_in_vain; ++step) {
    if (step == 0 && first.size > 0) {
      axpy<T, S>(ctx, T(1), first, x);
    } else {
      factors_->correct(ctx, r_.cspan(), -monitor.residual.system().A.traits().exponent, x);
    }
    monitor.residual.x_has_changed();
    if (step > 0) ++monitor.report.refinements;
    if (monitor.residual.form(r_.span())) return true;
    const TrueResidual now = monitor.residual.what();
    in_vain = now.norm <= least_gain * best.norm ? 0 : in_vain + 1;
    if (is_better<T>(now, best, rhs_norm)) {
      best = now;
      copy<T>(ctx, Span<const T, S>(x), best_.span());
    }
    if (!std::isfinite(now.norm)) break;
  }
  const TrueResidual last = monitor.residual.what();
  if (is_better<T>(best, last, rhs_norm) || !std::isfinite(last.norm)) {
    copy<T>(ctx, best_.cspan(), x);
    monitor.residual.x_has_changed();
    monitor.residual.form(r_.span());
  }
  return false;
}

// By the present factors, and then by others until these serve or none are left, or no x can do much better.
template <class T, Space S>
bool DirectSolver<T, S>::factorise_and_refine(const Context<S>& ctx, Monitor& monitor, Span<const T, S> correction) {
  const std::string first = factors_->title();
  bool made = factors_->factorise(ctx), met = made && refine(ctx, monitor, correction);
  const bool first_made = made;
  const double first_residual = monitor.report.relative(monitor.residual.norm());
  const auto may_do_better = [&] {
    return !made || !rows_are_solved<T>(monitor.residual.what(), monitor.report.rhs_norm);
  };
  while (!met && may_do_better() && !monitor.clock.interrupted() && factors_->next(ctx)) {
    made = factors_->factorise(ctx);
    met = made && refine(ctx, monitor, {});
  }
  if (std::string changed = std::exchange(changed_, {}); met) monitor.report.changed = std::move(changed);
  if (met && factors_->title() != first) {
    monitor.report.changed =
        replaced_text(factors_->title(), first, factors_->added() > 0, first_made, first_residual);
  }
  if (!made) monitor.residual.form(r_.span());  // which shows entries that are not finite
  return met;
}

// Of a structurally singular matrix: whether the x with the least residual meets the tolerance. It is kept if it is
// better.
template <class T, Space S>
bool DirectSolver<T, S>::comes_closest(const Context<S>& ctx, Monitor& monitor) {
  least_residual_ = 0;
  const TrueResidual before = monitor.residual.what();
  if (factors_->added() == 0 || !factors_->factorise(ctx) || !std::isfinite(before.norm)) return false;
  const Span<T, S> x = monitor.residual.system().x;
  copy<T>(ctx, Span<const T, S>(x), best_.span());
  const int exponent = -monitor.residual.system().A.traits().exponent;
  least_residual_ = factors_->correct_least_squares(ctx, r_.cspan(), exponent, x);
  monitor.residual.x_has_changed();
  if (monitor.residual.form(r_.span())) return true;
  if (monitor.residual.what().norm < before.norm) return false;
  copy<T>(ctx, best_.cspan(), x);
  monitor.residual.x_has_changed();
  monitor.residual.form(r_.span());
  return false;
}

// What ended a solve above its tolerance: where rounding is not the reason, the condition of A may be.
template <class T, Space S>
void DirectSolver<T, S>::explain(const Context<S>& ctx, SolveReport& report) {
  report.failure.untried = factors_->refused();
  if (report.failure.cause == Cause::rounding || !factors_->refused().empty())
    return overrule(report, report.status, report.failure);
  Failure failure{Cause::singular};
  if (!factors_->find_singular(ctx, failure)) return;
  // Otherwise an x that meets the tolerance may exist.
  failure.level = least_residual_ > report.tolerance ? report.relative(least_residual_) : 0;
  const auto for_caller = [&](Index i) {
    return i < 0 || old_of_new_.empty() ? i : old_of_new_[static_cast<std::size_t>(i)];
  };
  failure.unmatched_row = for_caller(failure.unmatched_row);
  failure.unmatched_column = for_caller(failure.unmatched_column);
  overrule(report, Status::breakdown, failure);
}

// False: nothing is left to do. Otherwise r is b - A x.
template <class T, Space S>
bool DirectSolver<T, S>::opened(Monitor& monitor, const SolveRequest<T, S>& request, Span<T, S> r) {
  if (!monitor.open(r)) return false;
  if (!monitor.residual.known()) monitor.residual.form(r);
  monitor.clock.tell(request, {name(), 0, monitor.residual.norm(), monitor.report.relative(monitor.residual.norm()),
                               monitor.residual.tolerance(), monitor.clock.seconds()});
  if (!monitor.clock.interrupted()) return true;
  monitor.conclude(Event::none);
  return false;
}

template <class T, Space S>
SolveReport DirectSolver<T, S>::finished(const Context<S>& ctx, Monitor& monitor, Span<const T, S> first) {
  const bool met = factorise_and_refine(ctx, monitor, first) || comes_closest(ctx, monitor);
  monitor.report.recurrence_residual = monitor.residual.norm();
  if (met) {
    monitor.outcome.conclude(Status::converged);
  } else if (!std::isfinite(monitor.residual.norm())) {
    monitor.conclude(Event::not_finite);
  } else {
    monitor.outcome.conclude_stagnation();
  }
  SolveReport report = monitor.close(r_.span(), work_.span());
  if (report.status == Status::stagnation) explain(ctx, report);
  return report;
}

template <class T, Space S>
SolveReport DirectSolver<T, S>::run(const SolveRequest<T, S>& request) {
  SolveRequest<T, S> alone = request;
  alone.exchange = nullptr;
  alone.M = nullptr;
  Monitor monitor(name(), r_.size(), alone, scratch_.data(), 0);
  if (!opened(monitor, alone, r_.span())) return monitor.close(r_.span(), work_.span());
  return finished(request.ctx, monitor, {});
}

// The residuals of all columns first, then one solve of the library with all of them.
template <class T, Space S>
std::vector<SolveReport> DirectSolver<T, S>::solve(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                                   const LinearOperator<T, S>*, Span<const T, S> b, Span<T, S> x,
                                                   Index columns, const StopCriterion& stop, ColumnProgress& progress,
                                                   InitialGuess guess) {
  const std::int64_t n = r_.size();
  at_least(ctx, residuals_, columns * n);
  at_least(ctx, corrections_, columns * n);
  const Span<T, S> residuals = residuals_.span().subspan(0, columns * n);
  const Span<T, S> corrections = corrections_.span().subspan(0, columns * n);
  std::vector<ProgressFn> callbacks;
  std::vector<std::unique_ptr<Monitor>> monitors;
  std::vector<char> open;
  callbacks.reserve(static_cast<std::size_t>(columns));
  for (Index c = 0; c < columns; ++c) {
    callbacks.push_back(progress.of(c));
    SolveRequest<T, S> request{ctx,  A, nullptr, b.subspan(c * n, n), x.subspan(c * n, n), stop, callbacks.back(),
                               guess};
    monitors.push_back(std::make_unique<Monitor>(name(), n, request, scratch_.data(), 0));
    open.push_back(opened(*monitors.back(), request, residuals.subspan(c * n, n)));
  }
  fill<T, S>(ctx, T(0), corrections);
  const bool any = std::count(open.begin(), open.end(), char{1}) > 0 && factors_->factorise(ctx);
  if (any) factors_->correct(ctx, Span<const T, S>(residuals), -A.traits().exponent, corrections);
  std::vector<SolveReport> reports;
  for (Index c = 0; c < columns; ++c) {
    Monitor& monitor = *monitors[static_cast<std::size_t>(c)];
    copy<T>(ctx, Span<const T, S>(residuals.subspan(c * n, n)), r_.span());
    const Span<const T, S> first = any ? Span<const T, S>(corrections.subspan(c * n, n)) : Span<const T, S>();
    reports.push_back(open[static_cast<std::size_t>(c)] != 0 ? finished(ctx, monitor, first)
                                                             : monitor.close(r_.span(), work_.span()));
  }
  return reports;
}

#define X(T, S) template class DirectSolver<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
