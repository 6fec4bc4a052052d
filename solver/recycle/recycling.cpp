// SPDX-License-Identifier: Apache-2.0
// A solve with the vectors of those before it, and what it leaves for the next.
#include "solver/recycle/recycling.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/krylov/monitor/solve_clock.hpp"
#include "solver/sequence/costs_of_ranks.hpp"

namespace newel::detail {
namespace {

// Whether it ended by no fault of its preconditioner.
bool was_stopped(const SolveReport& report) {
  return report.status == Status::max_iterations || report.status == Status::time_limit ||
         report.status == Status::stopped_by_caller || report.failure.cause == Cause::slower_than_factors;
}

// One solve of both: `first` ended at the x from which `report` went on.
void precede(SolveReport& report, const SolveReport& first) {
  report.iterations += first.iterations;
  report.seconds += first.seconds;
  report.initial_residual = first.initial_residual;
  ++report.restarts;
  if (!first.history.empty() && !report.history.empty()) {
    report.history.erase(report.history.begin());
    report.history.insert(report.history.begin(), first.history.begin(), first.history.end());
  }
  if (report.attempts.empty()) return;
  report.attempts.front().iterations += first.iterations;
  report.attempts.front().seconds += first.seconds;
}

double digits_of(const SolveReport& report) {
  const double digits = std::log(report.initial_residual / report.tolerance);
  return std::isfinite(digits) ? digits : 0;
}

}  // namespace

template <class T, Space S>
void Recycling<T, S>::forget() {
  vectors_.forget();
  policy_.begin_anew();
  adopts_ = false;
}

template <class T, Space S>
void Recycling<T, S>::begin_state(const Context<S>& ctx, std::int64_t rows, const RecycledState& state,
                                  const std::vector<double>& policy) {
  forget();
  policy_.set_counts(policy);
  adopts_ = true;
  kind_ = state.kind;
  if (state.held > 0) vectors_.begin_state(ctx, rows, state);
}

// Whether the operators stay for this solve.
template <class T, Space S>
bool Recycling<T, S>::follows(const SolveRequest<T, S>& request, RecycledKind kind) {
  const std::uint64_t A = request.A.serial(), M = request.M != nullptr ? request.M->serial() : 0;
  const bool adopted = std::exchange(adopts_, false) && (kind_ == kind || kind_ == RecycledKind::none);
  const bool same = adopted || (A == A_ && M == M_ && kind == kind_);
  if (!same) forget();
  A_ = A;
  M_ = M;
  kind_ = kind;
  return same || request.exchange == nullptr || request.exchange->not_before() == no_exchange;
}

// Whether there is memory for the vectors.
template <class T, Space S>
bool Recycling<T, S>::begin(const SolveRequest<T, S>& request, Deflation<T, S>& deflation, RecyclePolicy::Use use) {
  try {
    deflation.begin(request, vectors_, use);
  } catch (const OutOfMemory&) {
    if (ranks_of(request.ctx) != nullptr) throw;  // others continue with sums that this one would not join
    no_memory_ = true;
  }
  return !no_memory_;
}

// With the vectors; without them from x if that fails.
template <class T, Space S>
SolveReport Recycling<T, S>::driven(const SolveRequest<T, S>& request, Deflation<T, S>& deflation,
                                    const Drive& drive) {
  const auto drive_with = [&](const LinearOperator<T, S>* M, const StopCriterion& stop, InitialGuess guess,
                              OperatorExchange<T, S>* exchange) {
    return drive(
        {request.ctx, request.A, M, request.b, request.x, stop, request.progress, guess, exchange, request.give_up});
  };
  const SolveReport first = drive_with(deflation.preconditioner(), request.stop, request.guess, nullptr);
  if (first.converged() || was_stopped(first) || deflation.deflated() == 0) return first;
  forget();
  deflation.end();
  const StopCriterion left = limits_left(request.stop, first.iterations, first.seconds);
  SolveReport plain = drive_with(request.M, left, InitialGuess::in_x, request.exchange);
  if (plain.converged()) policy_.give_up();
  precede(plain, first);
  return plain;
}

template <class T, Space S>
RecycleCosts Recycling<T, S>::costs_of_ranks(const Context<S>& ctx) const {
  const RecycleCosts own = costs_(kind_, vectors_.held());
  const auto [iteration, deflation, product] =
      seconds_of_ranks(ctx, std::array{own.iteration, own.deflation, own.product});
  return {iteration, deflation, product};
}

template <class T, Space S>
void Recycling<T, S>::learn(const SolveRequest<T, S>& request, Deflation<T, S>& deflation, SolveReport& report,
                            const RecyclePolicy::Use& use) {
  const Context<S>& ctx = request.ctx;
  RecycledSolve solve{report.iterations, digits_of(report)};
  solve.one_kernel = deflation.was_in_one_kernel();
  report.recycle.vectors = deflation.deflated();
  if (use.deflates) report.recycle.iterations_saved = policy_.plain_iterations(solve.digits) - report.iterations;
  Harvest harvest;
  if (use.harvests) harvest = deflation.finish(ctx);
  solve.harvested = harvest.vectors;
  solve.refined = harvest.refined;
  solve.products = std::exchange(products_before_, vectors_.products());
  solve.products = products_before_ - solve.products;
  policy_.solved(solve, harvest.complete, [&] { return costs_of_ranks(ctx); });
  if (policy_.rests()) vectors_.forget();
}

template <class T, Space S>
SolveReport Recycling<T, S>::solve(const SolveRequest<T, S>& request, Deflation<T, S>& deflation,
                                   const Drive& drive) {
  if (no_memory_ || !follows(request, deflation.kind())) return drive(request);
  const struct End {
    Deflation<T, S>& deflation;
    ~End() { deflation.end(); }
  } at_the_end{deflation};
  const SolveClock clock;
  RecyclePolicy::Use use = policy_.next();
  use.deflates = use.deflates && vectors_.held() > 0;
  const bool works = use.deflates || use.harvests || (deflation.assists() && vectors_.held() > 0);
  if (works && !begin(request, deflation, use)) return drive(request);
  const double prepared = clock.seconds();
  SolveReport report = works ? driven(request, deflation, drive) : drive(request);
  if (!report.converged() || (use.deflates && vectors_.held() == 0)) return report;
  const double solved = clock.seconds();
  learn(request, deflation, report, use);
  report.recycle.seconds = prepared + clock.seconds() - solved;
  report.seconds += report.recycle.seconds;
  return report;
}

#define X(T, S) template class Recycling<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
