// SPDX-License-Identifier: Apache-2.0
// Trying solvers in turn.
#include "solver/system/solver_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/solver/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/monitor/column_progress.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/monitor/own_progress.hpp"
#include "solver/krylov/monitor/symmetry.hpp"

namespace newel::detail {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Of another solver, a longer solve or another preconditioner: nothing is to be hoped for.
bool is_inconsistent(const Failure& failure) {
  return failure.cause == Cause::outside_range || failure.cause == Cause::zero_row ||
         failure.cause == Cause::inconsistent;
}

}  // namespace

void overrule(SolveReport& report, Status status, const Failure& failure) {
  report.status = report.attempts.back().status = status;
  report.failure = report.attempts.back().failure = failure;
  report.reason = report.attempts.back().reason = text_of(failure);
  if (is_inconsistent(failure)) report.attainable_residual = report.attempts.back().attainable_residual = 0;
}

bool worth_another_solver(const SolveReport& report) {
  if (is_inconsistent(report.failure)) return false;
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

bool worth_another_preconditioner(const SolveReport& report) {
  const Cause cause = report.failure.cause;
  return worth_another_solver(report) && cause != Cause::rounding && cause != Cause::rounding_of_x;
}

void write_reasons(SolveReport& report, const std::string& preconditioner) {
  report.warning = report.converged() ? warning_of_rows(report.row_residual) : "";
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

template <class T, Space S>
std::vector<ChainStep<T, S>> chain_steps(const Context<S>& ctx, Index n, const std::vector<std::string>& names,
                                         const SolverOptions& options) {
  std::vector<ChainStep<T, S>> steps;
  for (const std::string& name : names) {
    const SolverMethod& method = find_solver(name);
    const auto make = maker_of<T, S>(method, options);
    steps.push_back({method.name, &method, false, [=] { return make(ctx, n, options); }});
  }
  return steps;
}

template <Space S>
std::vector<ChainStep<double, S>> with_mixed_step(const Context<S>& ctx, std::vector<ChainStep<double, S>> steps,
                                                  const LowSystem<S>& low, const SolverOptions& options) {
  const SolverMethod* const first = steps.front().method;
  if (const auto make = first->make_mixed.template get<double, S>()) {
    const auto make_mixed = [=] { return make(ctx, low, options); };
    steps.insert(steps.begin(), {mixed_name(first->name), first, true, make_mixed});
  }
  return steps;
}

template <class T, Space S>
SolverChain<T, S>::SolverChain(const Context<S>& ctx, std::vector<ChainStep<T, S>> steps,
                               const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, bool constant_null_space)
    : ctx_(ctx), steps_(std::move(steps)), A_(&A), M_(M), solvers_(steps_.size()) {
  KrylovSolver<T, S>& first = solver(0);
  if (has_several()) best_x_ = Array<T, S>(ctx_, A_->rows());
  if (!constant_null_space) {
    first.prepare(ctx_, *A_, M_);
    return;
  }
  zero_mean_ = std::make_unique<ZeroMeanPrecond<T, S>>(ctx_, A_->rows(), M_);
  projected_b_ = Array<T, S>(ctx_, A_->rows());
  image_ = Array<T, S>(ctx_, A_->rows());
  check_null_space();
  first.prepare(ctx_, *A_, zero_mean_.get());
}

template <class T, Space S>
KrylovSolver<T, S>& SolverChain<T, S>::solver(std::size_t step) {
  auto& made = solvers_[step];
  if (made == nullptr) made = steps_[step].make();
  return *made;
}

// Makes a solver that an earlier one's failure calls for. Where memory does not suffice, what was reached stands.
template <class T, Space S>
bool SolverChain<T, S>::can_make(std::size_t step, SolveReport& whole) {
  try {
    solver(step);
    return true;
  } catch (const OutOfMemory& e) {
    whole.failure.untried.push_back({steps_[step].name, e.what()});
    return false;
  }
}

template <class T, Space S>
void SolverChain<T, S>::use(const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  A_ = &A;
  M_ = M;
  if (zero_mean_ != nullptr) zero_mean_->set_inner(M_);
  scaled_.reset();
}

template <class T, Space S>
void SolverChain<T, S>::drop_first() {
  if (!has_several()) return;
  steps_.erase(steps_.begin());
  solvers_.erase(solvers_.begin());
  batch_.reset();
}

template <class T, Space S>
void SolverChain<T, S>::prepare() {
  solver(0).prepare(ctx_, *A_, zero_mean_ != nullptr ? zero_mean_.get() : M_);
}

// b and x are those of the operators with which it ends.
template <class T, Space S>
SolveReport SolverChain<T, S>::attempt(std::size_t step, Span<const T, S>& b, Span<T, S>& x,
                                       const StopCriterion& stop, const ProgressFn& progress, InitialGuess guess) {
  const bool zero = guess == InitialGuess::zero;
  if (zero_mean_ == nullptr) {
    SolveReport report = solver(step).run({ctx_, *A_, M_, b, x, stop, progress, guess, exchange_});
    if (exchange_ != nullptr) {
      exchange_->follow(b, x);
      for (Attempt& tried : report.attempts) tried.preconditioner = exchange_->preconditioner();
    }
    return report;
  }
  if (!zero) zero_mean_->remove_mean(ctx_, x);
  SolveReport report = solver(step).run({ctx_, *A_, zero_mean_.get(), b, x, stop, progress, guess});
  zero_mean_->remove_mean(ctx_, x);
  return report;
}

// An attempt that gives up as `stagnation` where a method whose residuals may grow has not found a better one for
// long: BiCGStab may wander for as many iterations as there are, and the next solver would get none. CG may wait as
// long, and longer, on its way; but where it is slow, and A or M is not symmetric, it gives up.
template <class T, Space S>
SolveReport SolverChain<T, S>::patient_attempt(std::size_t step, Span<const T, S>& b, Span<T, S>& x,
                                               const StopCriterion& stop, const ProgressFn& progress,
                                               InitialGuess guess) {
  const SolverMethod* const method = steps_[step].method;
  if (method == nullptr || method->minimises || method->from_matrix())
    return attempt(step, b, x, stop, progress, guess);
  const bool definite = method->demands == Demand::definite;  // as CG
  constexpr int patience = 1000;
  double lowest = INFINITY;
  int lowest_at = 0;
  bool gave_up = false, known_symmetric = false;
  Asymmetric fault = Asymmetric::none;
  const auto ask = [&](const Progress& now) {
    gave_up = false;
    if (progress && !progress(now)) return false;
    if (now.residual < (definite ? 0.1 : 1) * lowest) {
      lowest = now.residual;
      lowest_at = now.iteration;
    }
    if (known_symmetric || now.iteration - lowest_at < patience) return true;
    if (definite) fault = symmetry_fault(ctx_, *A_, M_);
    known_symmetric = definite && fault == Asymmetric::none;
    gave_up = !known_symmetric;
    return !gave_up;
  };
  SolveReport report = attempt(step, b, x, stop, OwnProgress(ask, is_watched(progress)), guess);
  if (gave_up && report.status == Status::stopped_by_caller) {
    const Cause cause = definite ? Cause::slow_residual : Cause::no_better_residual;
    overrule(report, Status::stagnation, {cause, Subject::none, 0, patience, fault});
  }
  return report;
}

template <class T, Space S>
SolveReport SolverChain<T, S>::solve(Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                     const ProgressFn& progress, InitialGuess guess) {
  const auto start = Clock::now();
  check_null_space();
  const Span<const T, S> given = b;
  const double outside = split_off_constant(b, stop, projected_b_.span());
  if (outside > 0) b = projected_b_.cspan();
  best_is_zero_ = guess == InitialGuess::zero;
  if (has_several() && !best_is_zero_) copy<T>(ctx_, Span<const T, S>(x), best_x_.span());
  SolveReport first =
      has_several() ? patient_attempt(0, b, x, stop, progress, guess) : attempt(0, b, x, stop, progress, guess);
  SolveReport whole = go_on(std::move(first), b, x, stop, progress, start);
  finish_in_null_space(whole, outside, given, Span<const T, S>(x), stop);
  write_reasons(whole, "");
  return whole;
}

// What is known of the residual with which a chain begins.
template <class T, Space S>
SolveReport SolverChain<T, S>::of_guess(const SolveReport& report) const {
  SolveReport guess;
  guess.true_residual = report.initial_residual;
  guess.twice_precision = best_is_zero_;
  guess.row_residual = best_is_zero_ ? 1 : -1;
  return guess;
}

// Of an x that is none of the last attempt's.
template <class T, Space S>
void SolverChain<T, S>::judge_anew(SolveReport& report, Span<const T, S> b, Span<const T, S> x) {
  at_least(image_, A_->rows());
  at_least(scalar_, 1);
  const TrueResidual found = true_residual<T, S>(ctx_, *A_, b, x, report.rhs_norm, 0, image_.span(), scalar_.data());
  report.true_residual = found.norm;
  if (found.proven) report.residual_error_bound = found.error_bound;
  report.twice_precision = found.proven;
  report.row_residual = found.worst_row;
}

template <class T, Space S>
void SolverChain<T, S>::restore_best(Span<T, S> x) const {
  if (best_is_zero_) return fill<T, S>(ctx_, T(0), x);
  copy<T>(ctx_, best_x_.cspan(), x);
}

// From the first solver's report on. x is what it left, best_x_ what it began with.
template <class T, Space S>
SolveReport SolverChain<T, S>::go_on(SolveReport whole, Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                     const ProgressFn& progress, Clock::time_point start) {
  if (const std::optional<SystemUnits> units = units_for(whole, b)) {
    const StopCriterion left = limits_left(stop, whole.iterations, seconds_since(start));
    return go_on_in_other_units(std::move(whole), *units, b, x, left, progress);
  }
  SolveReport best = of_guess(whole);  // its residual
  bool from_guess = !best_is_zero_;    // of which only an ordinary product is known
  const auto keep_better = [&](SolveReport& report) {
    const bool worse = has_several() && !report.converged() && !(report.true_residual <= best.true_residual);
    if (worse) {
      restore_best(x);
      if (zero_mean_ != nullptr) zero_mean_->remove_mean(ctx_, x);
      take_residual(report, best);
      if (from_guess) judge_anew(report, b, Span<const T, S>(x));
    } else {
      take_residual(best, report);
      from_guess = false;
    }
  };
  keep_better(whole);
  look_for_inconsistency(whole, b, Span<const T, S>(x));
  std::size_t tried = 0;
  for (std::size_t k = 1; k < steps_.size(); ++k) {
    const StopCriterion left = limits_left(stop, whole.iterations, seconds_since(start));
    if (!worth_another_solver(whole) || left.max_iterations == 0) break;
    const bool last = k + 1 == steps_.size();
    if (!can_make(k, whole)) break;
    tried = k;
    copy<T>(ctx_, Span<const T, S>(x), best_x_.span());
    best_is_zero_ = false;
    SolveReport report = last ? attempt(k, b, x, left, progress) : patient_attempt(k, b, x, left, progress);
    keep_better(report);
    append_attempt(whole, std::move(report));
    look_for_inconsistency(whole, b, Span<const T, S>(x));
  }
  if (whole.failure.cause == Cause::outside_range) {
    solve_in_range(tried, whole, b, x, limits_left(stop, whole.iterations, seconds_since(start)), progress);
  }
  if (whole.failure.cause == Cause::inconsistent) shorten(whole, b, x);
  settle_attainable(whole);
  return whole;
}

template <class T, Space S>
std::vector<SolveReport> SolverChain<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                          const StopCriterion& stop, const ProgressFn& progress,
                                                          InitialGuess guess) {
  const auto start = Clock::now();
  check_null_space();
  ColumnProgress shared(progress, columns);
  if (columns > 1 && batched()) return solve_batch(b, x, columns, stop, shared, guess);
  std::vector<SolveReport> reports;
  const std::int64_t n = A_->rows();
  for (Index c = 0; c < columns; ++c) {
    const bool late = c > 0 && stop.time_limit_seconds > 0 && seconds_since(start) > stop.time_limit_seconds;
    StopCriterion left = limits_left(stop, 0, seconds_since(start));
    const bool skipped = late || shared.stopped();
    if (skipped) left.max_iterations = 0;
    reports.push_back(solve(b.subspan(c * n, n), x.subspan(c * n, n), left, shared.of(c), guess));
    if (!skipped || reports.back().status != Status::max_iterations) continue;
    if (late) {
      overrule(reports.back(), Status::time_limit, {Cause::time_limit});
    } else {
      overrule(reports.back(), Status::stopped_by_caller, {Cause::stopped_by_caller});
    }
  }
  return reports;
}

template <class T, Space S>
bool SolverChain<T, S>::batched() const {
  const ChainStep<T, S>& first = steps_.front();
  return first.method != nullptr && !first.mixed && first.method->make_batch.template get<T, S>() != nullptr;
}

// The first solver has batches.
template <class T, Space S>
std::vector<SolveReport> SolverChain<T, S>::solve_batch(Span<const T, S> b, Span<T, S> x, Index columns,
                                                        const StopCriterion& stop, ColumnProgress& progress,
                                                        InitialGuess guess) {
  const auto start = Clock::now();
  const std::int64_t n = A_->rows();
  const auto column_of = [n](auto vectors, Index c) { return vectors.subspan(c * n, n); };
  std::vector<double> outside(static_cast<std::size_t>(columns), 0.0);
  const bool zero = guess == InitialGuess::zero;
  const Span<const T, S> given = b;
  if (has_several() && !zero) {
    at_least(guesses_, x.size);
    copy<T>(ctx_, Span<const T, S>(x), guesses_.span().subspan(0, x.size));
  }
  if (zero_mean_ != nullptr) {
    at_least(projected_columns_, b.size);
    const Span<T, S> projected = projected_columns_.span().subspan(0, b.size);
    copy<T>(ctx_, b, projected);
    for (Index c = 0; c < columns; ++c) {
      outside[static_cast<std::size_t>(c)] = split_off_constant(column_of(b, c), stop, column_of(projected, c));
      if (!zero) zero_mean_->remove_mean(ctx_, column_of(x, c));
    }
    b = projected;
  }
  if (batch_ == nullptr) batch_ = steps_.front().method->make_batch.template get<T, S>()(ctx_, A_->rows());
  const LinearOperator<T, S>* const M = zero_mean_ != nullptr ? zero_mean_.get() : M_;
  std::vector<SolveReport> reports = batch_->solve(ctx_, *A_, M, b, x, columns, stop, progress, guess);
  for (Index c = 0; c < columns; ++c) {
    SolveReport& report = reports[static_cast<std::size_t>(c)];
    const Span<T, S> x_c = column_of(x, c);
    if (zero_mean_ != nullptr) zero_mean_->remove_mean(ctx_, x_c);
    best_is_zero_ = zero;
    if (has_several() && !zero) copy<T>(ctx_, column_of(guesses_.cspan(), c), best_x_.span());
    report = go_on(std::move(report), column_of(b, c), x_c, stop, progress.of(c), start);
    finish_in_null_space(report, outside[static_cast<std::size_t>(c)], column_of(given, c), Span<const T, S>(x_c),
                         stop);
    write_reasons(report, "");
  }
  return reports;
}

#define X(T, S)                                                                                                \
  template class SolverChain<T, S>;                                                                            \
  template std::vector<ChainStep<T, S>> chain_steps(const Context<S>&, Index, const std::vector<std::string>&, \
                                                    const SolverOptions&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

#define X(S)                                                                                                       \
  template std::vector<ChainStep<double, S>> with_mixed_step(const Context<S>&, std::vector<ChainStep<double, S>>, \
                                                             const LowSystem<S>&, const SolverOptions&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
