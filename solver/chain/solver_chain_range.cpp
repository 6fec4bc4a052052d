// SPDX-License-Identifier: Apache-2.0
// What a chain does about the range of T, and about the range of A.
#include <cmath>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "solver/chain/other_units.hpp"
#include "solver/chain/solver_chain.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {

// Begins anew, and keeps the better x of both.
template <class T, Space S>
SolveReport SolverChain<T, S>::go_on_in_other_units(SolveReport whole, const SystemUnits& units, Span<const T, S> b,
                                                    Span<T, S> x, const StopCriterion& stop,
                                                    const ProgressFn& progress) {
  try {
    if (other_units_ == nullptr || other_units_->matrix() != units.matrix) {
      other_units_.reset();
      other_units_ =
          std::make_shared<OtherUnits<T, S>>(ctx_, *A_, M_, solvers_.steps(), ones_ != nullptr, units.matrix);
    }
  } catch (const OutOfMemory& e) {
    detail::require_alone(ctx_);
    whole.failure.untried.push_back({"", e.what()});
    settle_attainable(whole);
    return whole;
  }
  SolveReport before;
  take_residual(before, whole);
  KeptX<T, S> x_before;
  if (std::isfinite(before.true_residual)) {
    try {
      x_before.keep(ctx_, x);
    } catch (const OutOfMemory&) {
      detail::require_alone(ctx_);
    }
  }
  if (solvers_.several()) {
    best_.restore(ctx_, x);
  } else if (whole.iterations > 0) {
    fill<T, S>(ctx_, T(0), x);
  }
  SolveReport report = other_units_->solve(std::move(whole), units, b, x, stop, progress);
  if (x_before.x.size() > 0 && !report.converged() && !(report.true_residual <= before.true_residual)) {
    x_before.restore(ctx_, x);
    take_residual(report, before);
  }
  settle_attainable(report);
  return report;
}

// x of the failed solve may have grown without bound: begins anew, without the constant part of b, and keeps the
// better of both.
template <class T, Space S>
void SolverChain<T, S>::solve_in_range(std::size_t step, SolveReport& whole, Span<const T, S> b, Span<T, S> x,
                                       const StopCriterion& stop, const ProgressFn& progress) {
  if (stop.max_iterations == 0) return;
  try {
    best_.keep(ctx_, x);
    at_least(ctx_, projected_b_, A_->rows());
    at_least(ctx_, judge_.scalar, 1);
  } catch (const OutOfMemory&) {
    detail::require_alone(ctx_);
    return;
  }
  copy<T>(ctx_, b, projected_b_.span());
  sum<T, S>(ctx_, b, judge_.scalar.data());
  subtract_mean<T, S>(ctx_, judge_.scalar.data(), projected_b_.span());
  fill<T, S>(ctx_, T(0), x);

  Span<const T, S> rest = projected_b_.cspan();
  OperatorExchange<T, S>* const exchange = std::exchange(exchange_, nullptr);
  SolveReport report = attempt(step, rest, x, stop, progress, InitialGuess::zero, false);
  exchange_ = exchange;
  report.rhs_norm = whole.rhs_norm;
  report.tolerance = whole.tolerance;
  for (Attempt& tried : report.attempts) tried.preconditioner = whole.attempts.back().preconditioner;
  judge_.judge(ctx_, *A_, report, b, x);
  if (!(report.true_residual <= whole.true_residual)) {
    best_.restore(ctx_, x);
    take_residual(report, whole);
  }
  report.attempts.back().true_residual = report.true_residual;
  overrule(report, Status::stagnation, whole.failure);
  append_attempt(whole, std::move(report));
}

// Of the x that is returned, whose mean was taken out after the last attempt, and of the b that was given.
template <class T, Space S>
void SolverChain<T, S>::finish(SolveReport& report, double outside, Span<const T, S> b, Span<const T, S> x,
                               const StopCriterion& stop) {
  if (ones_ == nullptr || all_rows(ctx_, b.size) == 0 || !std::isfinite(report.rhs_norm)) return;
  at_least(ctx_, judge_.scalar, 1);
  count_part_outside(report, outside, norm_in_range<T, S>(ctx_, b, judge_.scalar.data()), stop);
  judge_.judge(ctx_, *A_, report, b, x);
  if (report.converged() && !(report.true_residual + report.residual_error_bound <= report.tolerance)) {
    overrule(report, Status::stagnation, stagnation_at(false, report.relative(report.true_residual)));
  }
}

#define X(T, S)                                                                                                      \
  template SolveReport SolverChain<T, S>::go_on_in_other_units(SolveReport, const SystemUnits&, Span<const T, S>,    \
                                                               Span<T, S>, const StopCriterion&, const ProgressFn&); \
  template void SolverChain<T, S>::solve_in_range(std::size_t, SolveReport&, Span<const T, S>, Span<T, S>,           \
                                                  const StopCriterion&, const ProgressFn&);                          \
  template void SolverChain<T, S>::finish(SolveReport&, double, Span<const T, S>, Span<const T, S>,                  \
                                          const StopCriterion&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
