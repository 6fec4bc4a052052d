// SPDX-License-Identifier: Apache-2.0
// The direct solver: factors, refinement, and what their failure says of A.
#include "solver/direct/direct_solver.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"

namespace newel::detail {
namespace {

// The power of two by which a chain has scaled the matrix, for a system near the ends of the range.
template <class T, Space S>
int exponent_of(const LinearOperator<T, S>& A) {
  const auto* const scaled = dynamic_cast<const ScaledOperator<T, S>*>(&A);
  return scaled != nullptr ? scaled->exponent() : 0;
}

// What the report says of factors that others have taken the place of.
std::string replaced_text(const std::string& others, const std::string& before, bool were_made, double relative) {
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
  static_cast<void>(factors_->factorise(ctx));
}

template <class T, Space S>
void DirectSolver<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  if (source_.identity()) return factors_->take_values(ctx, values);
  gather<T>(ctx, values, source_, gathered_.span());
  factors_->take_values(ctx, gathered_.cspan());
}

// True: the tolerance is met. Keeps the best x; the first step is the solve itself. A step from an x that is right
// but for its last digits may take one of them the wrong way, and the next one puts it right.
template <class T, Space S>
bool DirectSolver<T, S>::refine(const Context<S>& ctx, Monitor& monitor) {
  constexpr int most_steps = 20, most_in_vain = 3;
  constexpr double least_gain = 0.5;
  const Span<T, S> x = monitor.residual.system().x;
  double best = monitor.residual.norm();
  copy<T>(ctx, Span<const T, S>(x), best_.span());
  for (int step = 0, in_vain = 0; step < most_steps && in_vain < most_in_vain; ++step) {
    factors_->correct(ctx, r_.cspan(), -exponent_of(monitor.residual.system().A), x);
    monitor.residual.x_has_changed();
    if (step > 0) ++monitor.report.refinements;
    if (monitor.residual.form(r_.span())) return true;
    const double now = monitor.residual.norm();
    in_vain = now <= least_gain * best ? 0 : in_vain + 1;
    if (now < best) {
      best = now;
      copy<T>(ctx, Span<const T, S>(x), best_.span());
    }
    if (!std::isfinite(now)) break;
  }
  if (!(monitor.residual.norm() <= best)) {
    copy<T>(ctx, best_.cspan(), x);
    monitor.residual.x_has_changed();
    monitor.residual.form(r_.span());
  }
  return false;
}

// By the present factors, and then by others until these serve or none are left.
template <class T, Space S>
bool DirectSolver<T, S>::factorise_and_refine(const Context<S>& ctx, Monitor& monitor) {
  const std::string first = factors_->title();
  bool made = factors_->factorise(ctx), met = made && refine(ctx, monitor);
  const bool first_made = made;
  const double first_residual = monitor.report.relative(monitor.residual.norm());
  while (!met && !monitor.clock.interrupted() && factors_->next(ctx)) {
    made = factors_->factorise(ctx);
    met = made && refine(ctx, monitor);
  }
  if (met && factors_->title() != first) {
    monitor.report.changed = replaced_text(factors_->title(), first, first_made, first_residual);
  }
  if (!made) monitor.residual.form(r_.span());  // which shows entries that are not finite
  return met;
}

// What ended a solve above its tolerance: where rounding is not the reason, the condition of A may be.
template <class T, Space S>
void DirectSolver<T, S>::explain(const Context<S>& ctx, SolveReport& report) {
  report.failure.untried = factors_->refused();
  if (report.failure.cause == Cause::rounding || !factors_->refused().empty())
    return overrule(report, report.status, report.failure);
  Failure failure{Cause::singular};
  if (!factors_->find_singular(ctx, failure)) return;
  const auto for_caller = [&](Index i) {
    return i < 0 || old_of_new_.empty() ? i : old_of_new_[static_cast<std::size_t>(i)];
  };
  failure.unmatched_row = for_caller(failure.unmatched_row);
  failure.unmatched_column = for_caller(failure.unmatched_column);
  overrule(report, Status::breakdown, failure);
}

template <class T, Space S>
SolveReport DirectSolver<T, S>::run(const SolveRequest<T, S>& request) {
  const Context<S>& ctx = request.ctx;
  SolveRequest<T, S> alone = request;
  alone.exchange = nullptr;
  alone.M = nullptr;
  Monitor monitor(name(), r_.size(), alone, scratch_.data(), 0);
  if (!monitor.open(r_.span())) return monitor.close(r_.span(), work_.span());
  if (!monitor.residual.known()) monitor.residual.form(r_.span());
  monitor.clock.tell(alone, {name(), 0, monitor.residual.norm(), monitor.report.relative(monitor.residual.norm()),
                             monitor.residual.tolerance(), monitor.clock.seconds()});
  if (monitor.clock.interrupted()) {
    monitor.conclude(Event::none);
    return monitor.close(r_.span(), work_.span());
  }
  const bool met = factorise_and_refine(ctx, monitor);
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

#define X(T, S) template class DirectSolver<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
