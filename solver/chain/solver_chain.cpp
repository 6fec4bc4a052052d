// SPDX-License-Identifier: Apache-2.0
// Trying solvers in turn.
#include "solver/chain/solver_chain.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/chain/least_squares.hpp"
#include "solver/chain/other_units.hpp"
#include "solver/chain/patience.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/monitor/symmetry.hpp"

namespace newel::detail {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What is known of the residual with which a chain begins.
SolveReport of_guess(const SolveReport& report, bool zero) {
  SolveReport guess;
  guess.true_residual = report.initial_residual;
  guess.twice_precision = zero;
  guess.row_residual = zero ? 1 : -1;
  return guess;
}

// Whichever gives up first; empty: neither will.
GiveUpFn either(GiveUpFn first, GiveUpFn second) {
  if (!first || !second) return first ? std::move(first) : std::move(second);
  return [first = std::move(first), second = std::move(second)](const Progress& now) {
    const std::optional<Failure> failure = first(now);
    return failure ? failure : second(now);
  };
}

// r.Mr <= 0 says nothing of M if rounding has left r a mean, which M without constants does not know. It is formed
// again without the mean.
template <class T, Space S>
void judge_without_mean(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                        const ConstantNullSpace<T, S>& ones, ReturnedResidual<T, S>& judge, SolveReport& report,
                        Span<const T, S> b, Span<const T, S> x) {
  if (report.failure.cause != Cause::precond_not_positive || M == nullptr) return;
  SolveReport residual;
  residual.rhs_norm = report.rhs_norm;
  judge.judge(ctx, A, residual, b, x);
  ones.remove_mean(ctx, judge.image.span());
  Array<T, S> image(ctx, A.rows());
  if (is_precond_not_positive_along<T, S>(ctx, *M, judge.image.span(), image.span(), judge.scalar.data())) return;
  overrule(report, Status::stagnation, stagnation_at(false, report.relative(report.true_residual)));
}

}  // namespace

template <class T, Space S>
SolverChain<T, S>::SolverChain(const Context<S>& ctx, std::vector<ChainStep<T, S>> steps,
                               const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, bool constant_null_space,
                               Recycling<T, S>* recycling)
    : ctx_(ctx), solvers_(std::move(steps)), A_(&A), M_(M), recycling_(recycling) {
  KrylovSolver<T, S>& first = solvers_.at(0);
  const Index n = A_->rows();
  if (solvers_.several()) best_.x = Array<T, S>(ctx_, n);
  if (constant_null_space) {
    ones_ = std::make_unique<ConstantNullSpace<T, S>>(ctx_, n, M_);
    projected_b_ = Array<T, S>(ctx_, n);
    judge_.image = Array<T, S>(ctx_, n);
    ones_->check(ctx_, *A_, projected_b_.span(), judge_.image.span());
  }
  first.prepare(ctx_, *A_, precond());
}

template <class T, Space S>
void SolverChain<T, S>::use(const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) {
  A_ = &A;
  M_ = M;
  if (ones_ != nullptr) ones_->set_inner(M_);
  other_units_.reset();
}

template <class T, Space S>
void SolverChain<T, S>::prepare() {
  solvers_.at(0).prepare(ctx_, *A_, precond());
}

// b and x are those of the operators with which it ends.
template <class T, Space S>
SolveReport SolverChain<T, S>::attempt(std::size_t step, Span<const T, S>& b, Span<T, S>& x,
                                       const StopCriterion& stop, const ProgressFn& progress, InitialGuess guess,
                                       bool may_give_up) {
  const bool zero = guess == InitialGuess::zero;
  const SolverMethod* const method = solvers_.steps()[step].method;
  GiveUpFn give_up;
  if (may_give_up && step + 1 < solvers_.size() && may_wander(method)) {
    give_up = Patience(*method, [this] { return symmetry_fault(ctx_, *A_, M_); });
  }
  if (exchange_ != nullptr) give_up = either(std::move(give_up), exchange_->overdue());
  const GiveUpFn* const asked = give_up ? &give_up : nullptr;
  if (ones_ == nullptr) {
    // An M for definite matrices may be indefinite if A is.
    if (exchange_ != nullptr)
      exchange_->keep_preconditioner(method != nullptr && method->demands == Demand::symmetric);
    SolveReport report =
        solvers_.at(step).run({ctx_, *A_, M_, b, x, stop, progress, guess, exchange_, asked, recycling_});
    if (exchange_ != nullptr) {
      exchange_->follow(b, x);
      for (Attempt& tried : report.attempts) tried.preconditioner = exchange_->preconditioner();
    }
    return report;
  }
  if (!zero) ones_->remove_mean(ctx_, x);
  SolveReport report =
      solvers_.at(step).run({ctx_, *A_, ones_->precond(), b, x, stop, progress, guess, nullptr, asked, recycling_});
  ones_->remove_mean(ctx_, x);
  judge_without_mean<T, S>(ctx_, *A_, M_, *ones_, judge_, report, b, Span<const T, S>(x));
  return report;
}

template <class T, Space S>
SolveReport SolverChain<T, S>::solve(Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                     const ProgressFn& progress, InitialGuess guess,
                                     OperatorExchange<T, S>* exchange) {
  const auto start = Clock::now();
  exchange_ = exchange;
  double outside = 0;
  const Span<const T, S> given = b;
  if (ones_ != nullptr) {
    ones_->check(ctx_, *A_, projected_b_.span(), judge_.image.span());
    outside = ones_->split_off(ctx_, b, stop, projected_b_.span());
  }
  if (outside > 0) b = projected_b_.cspan();
  best_.zero = guess == InitialGuess::zero;
  if (solvers_.several() && !best_.zero) copy<T>(ctx_, Span<const T, S>(x), best_.x.span());
  SolveReport first = attempt(0, b, x, stop, progress, guess);
  SolveReport whole = go_on(std::move(first), b, x, stop, progress, start);
  finish(whole, outside, given, Span<const T, S>(x), stop);
  write_reasons(whole, "");
  return whole;
}

// From the first solver's report on. x is what it left, `best_` what it began with.
template <class T, Space S>
SolveReport SolverChain<T, S>::go_on(SolveReport whole, Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                     const ProgressFn& progress, Clock::time_point start) {
  if (const std::optional<SystemUnits> units = units_for<T, S>(ctx_, *A_, M_, whole, b)) {
    const StopCriterion left = limits_left(stop, whole.iterations, seconds_since(start));
    return go_on_in_other_units(std::move(whole), *units, b, x, left, progress);
  }
  SolveReport best = of_guess(whole, best_.zero);  // its residual
  bool from_guess = !best_.zero;                   // of which only an ordinary product is known
  const auto keep_better = [&](SolveReport& report) {
    const bool worse = solvers_.several() && !report.converged() && !(report.true_residual <= best.true_residual);
    if (worse) {
      best_.restore(ctx_, x);
      if (ones_ != nullptr) ones_->remove_mean(ctx_, x);
      take_residual(report, best);
      if (from_guess) judge_.judge(ctx_, *A_, report, b, Span<const T, S>(x));
    } else {
      take_residual(best, report);
      from_guess = false;
    }
  };
  keep_better(whole);
  look_for_inconsistency<T, S>(ctx_, *A_, whole, b, x);
  std::size_t tried = 0;
  for (std::size_t k = 1; k < solvers_.size(); ++k) {
    const StopCriterion left = limits_left(stop, whole.iterations, seconds_since(start));
    if (!worth_another_solver(whole) || left.max_iterations == 0) break;
    if (exchange_ != nullptr && exchange_->others_come_later()) break;
    const SolverMethod* const method = solvers_.steps()[k].method;
    if (method != nullptr && !may_help(*method, whole)) continue;
    if (!solvers_.can_make(ctx_, k, whole)) break;
    tried = k;
    copy<T>(ctx_, Span<const T, S>(x), best_.x.span());
    best_.zero = false;
    SolveReport report = attempt(k, b, x, left, progress, InitialGuess::in_x);
    keep_better(report);
    append_attempt(whole, std::move(report));
    look_for_inconsistency<T, S>(ctx_, *A_, whole, b, x);
  }
  if (whole.failure.cause == Cause::outside_range) {
    solve_in_range(tried, whole, b, x, limits_left(stop, whole.iterations, seconds_since(start)), progress);
  }
  const bool by_factors = whole.failure.cause == Cause::singular && is_unsolvable(whole);  // and x comes closest
  if (by_factors || whole.failure.cause == Cause::inconsistent) {
    shorten<T, S>(ctx_, *A_, judge_, best_, whole, b, x);
  }
  settle_attainable(whole);
  return whole;
}

template <class T, Space S>
std::vector<SolveReport> SolverChain<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                          const StopCriterion& stop, const ProgressFn& progress,
                                                          InitialGuess guess) {
  const auto start = Clock::now();
  exchange_ = nullptr;
  if (ones_ != nullptr) ones_->check(ctx_, *A_, projected_b_.span(), judge_.image.span());
  ColumnProgress shared(progress, columns);
  // Column steps on a device add the sums of that device alone.
  const bool side_by_side = S == Space::host || detail::ranks_of(ctx_) == nullptr;
  if (columns > 1 && side_by_side && solvers_.batched()) return solve_batch(b, x, columns, stop, shared, guess);
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
  if (solvers_.several() && !zero) {
    at_least(ctx_, guesses_, x.size);
    copy<T>(ctx_, Span<const T, S>(x), guesses_.span().subspan(0, x.size));
  }
  if (ones_ != nullptr) {
    at_least(ctx_, projected_columns_, b.size);
    const Span<T, S> projected = projected_columns_.span().subspan(0, b.size);
    copy<T>(ctx_, b, projected);
    for (Index c = 0; c < columns; ++c) {
      outside[static_cast<std::size_t>(c)] = ones_->split_off(ctx_, column_of(b, c), stop, column_of(projected, c));
      if (!zero) ones_->remove_mean(ctx_, column_of(x, c));
    }
    b = projected;
  }
  BatchSolver<T, S>& batch = solvers_.batch(ctx_, A_->rows());
  std::vector<SolveReport> reports = batch.solve(ctx_, *A_, precond(), b, x, columns, stop, progress, guess);
  for (Index c = 0; c < columns; ++c) {
    SolveReport& report = reports[static_cast<std::size_t>(c)];
    const Span<T, S> x_c = column_of(x, c);
    if (ones_ != nullptr) {
      ones_->remove_mean(ctx_, x_c);
      judge_without_mean<T, S>(ctx_, *A_, M_, *ones_, judge_, report, column_of(b, c), Span<const T, S>(x_c));
    }
    best_.zero = zero;
    if (solvers_.several() && !zero) copy<T>(ctx_, column_of(guesses_.cspan(), c), best_.x.span());
    report = go_on(std::move(report), column_of(b, c), x_c, stop, progress.of(c), start);
    finish(report, outside[static_cast<std::size_t>(c)], column_of(given, c), Span<const T, S>(x_c), stop);
    write_reasons(report, "");
  }
  return reports;
}

#define X(T, S) template class SolverChain<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
