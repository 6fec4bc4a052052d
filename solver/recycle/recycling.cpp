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
void Recycling<T, S>::begin_state(const Context<S>& ctx, std::int64_t rows,
                                  const typename RecycledVectors<T, S>::State& state,
                                  const std::vector<double>& policy) {
  forget();
  policy_.set_counts(policy);
  adopts_ = true;
  if (state.held > 0) vectors_.begin_state(ctx, rows, state);
}

// Whether the operators stay for this solve.
template <class T, Space S>
bool Recycling<T, S>::follows(const SolveRequest<T, S>& request) {
  const std::uint64_t A = request.A.serial(), M = request.M != nullptr ? request.M->serial() : 0;
  const bool same = (A == A_ && M == M_) || std::exchange(adopts_, false);
  if (!same) forget();
  A_ = A;
  M_ = M;
  return same || request.exchange == nullptr || request.exchange->not_before() == no_exchange;
}

// Whether there is memory for the vectors.
template <class T, Space S>
bool Recycling<T, S>::prepare(const SolveRequest<T, S>& request, Span<CgCoefficients, S> coefficients,
                              RecyclePolicy::Use use) {
  const auto& ctx = request.ctx;
  const Index n = request.A.rows();
  try {
    vectors_.make_room(ctx, n);
    if (use.harvests) window_.begin(ctx, n, coefficients);
  } catch (const OutOfMemory&) {
    if (ranks_of(ctx) != nullptr) throw;  // others continue with sums that this one would not join
    no_memory_ = true;
    return false;
  }
  if (use.deflates) vectors_.update(ctx, request.A);
  deflated_.bind(n, request.M, use.deflates, use.harvests);
  return true;
}

// With the deflated preconditioner; without it from x if that fails.
template <class T, Space S>
SolveReport Recycling<T, S>::driven(const SolveRequest<T, S>& request, const Drive& drive) {
  const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up, recycling] = request;
  SolveReport report = drive({ctx, A, &deflated_, b, x, stop, progress, guess, nullptr, give_up});
  if (report.converged() || was_stopped(report) || vectors_.held() == 0) return report;
  forget();
  policy_.give_up();
  const StopCriterion left = limits_left(stop, report.iterations, report.seconds);
  SolveReport plain = drive({ctx, A, M, b, x, left, progress, InitialGuess::in_x, exchange, give_up});
  precede(plain, report);
  return plain;
}

template <class T, Space S>
void Recycling<T, S>::learn(const SolveRequest<T, S>& request, SolveReport& report, const RecyclePolicy::Use& use) {
  const Context<S>& ctx = request.ctx;
  RecycledSolve solve{report.iterations, digits_of(report)};
  report.recycle.vectors = use.deflates ? vectors_.held() : 0;
  if (report.recycle.vectors > 0)
    report.recycle.iterations_saved = policy_.plain_iterations(solve.digits) - report.iterations;
  if (use.harvests) {
    const int place = vectors_.place(), room = vectors_.room(LanczosWindow<T, S>::wanted);
    solve.harvested = window_.finish(ctx, room, vectors_.vector(place).data);
    vectors_.added(solve.harvested, window_.largest());
  }
  solve.products = std::exchange(products_before_, vectors_.products());
  solve.products = products_before_ - solve.products;
  policy_.solved(solve, vectors_.held() == vectors_.most(), [&] {
    const RecycleCosts costs = costs_(vectors_.held());
    double seconds[] = {costs.iteration, costs.deflation, costs.product};
    sum_over_ranks(ctx, seconds, 3);  // of which each has costs of its own
    return RecycleCosts{seconds[0], seconds[1], seconds[2]};
  });
  if (policy_.rests()) vectors_.forget();
}

template <class T, Space S>
SolveReport Recycling<T, S>::solve(const SolveRequest<T, S>& request, Span<CgCoefficients, S> coefficients,
                                   const Drive& drive) {
  if (no_memory_ || !follows(request)) return drive(request);
  const SolveClock clock;
  RecyclePolicy::Use use = policy_.next();
  use.deflates = use.deflates && vectors_.held() > 0;
  if ((use.deflates || use.harvests) && !prepare(request, coefficients, use)) return drive(request);
  const double prepared = clock.seconds();
  SolveReport report = use.deflates || use.harvests ? driven(request, drive) : drive(request);
  if (!report.converged() || (use.deflates && vectors_.held() == 0)) return report;
  const double solved = clock.seconds();
  learn(request, report, use);
  report.recycle.seconds = prepared + clock.seconds() - solved;
  report.seconds += report.recycle.seconds;
  return report;
}

#define X(T, S) template class Recycling<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
