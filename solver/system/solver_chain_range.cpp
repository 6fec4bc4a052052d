// SPDX-License-Identifier: Apache-2.0
// What no x can produce: the constant null space that is named, and parts of b that a failed solve leads to.
#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/inconsistency.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"
#include "solver/system/solver_chain.hpp"

namespace newel::detail {
namespace {

// x is the least-squares solution, as far as it goes: the part of b that was split off is orthogonal to the rest.
void count_part_outside(SolveReport& report, double outside, double rhs_norm, const StopCriterion& stop) {
  if (!(outside > 0)) return;
  report.rhs_norm = rhs_norm;
  report.initial_residual = std::hypot(report.initial_residual, outside);
  report.tolerance = std::max(stop.rel_tol * rhs_norm, stop.abs_tol);
  if (!report.converged() && report.status != Status::stagnation) return;
  overrule(report, Status::stagnation, {Cause::outside_range, Subject::none, report.relative(outside)});
}

// Endings after which it is worth some products to look for the reason in A and b.
bool may_be_inconsistent(const SolveReport& report) {
  return worth_another_solver(report) || report.status == Status::max_iterations;
}

}  // namespace

template <class T, Space S>
void SolverChain<T, S>::check_null_space() {
  if (zero_mean_ == nullptr || null_space_known_) return;
  if (A_->rows() > 0 && !zero_mean_->is_null_vector_of(ctx_, *A_, projected_b_.span(), image_.span())) {
    throw InputError("the matrix does not map the constant vector to zero, so that is not its null space");
  }
  // Symmetric matrices, and others whose columns sum to zero: the image of any vector shows it.
  const auto [constant, length] = zero_mean_->constant_part(ctx_, image_.cspan());
  range_has_mean_zero_ = constant <= zero_mean_->rounding * length;
  null_space_known_ = true;
}

// |the part of b that no x can produce|, 0 where that is within the tolerance; then `projected` holds the rest of b.
template <class T, Space S>
double SolverChain<T, S>::split_off_constant(Span<const T, S> b, const StopCriterion& stop, Span<T, S> projected) {
  if (zero_mean_ == nullptr || !range_has_mean_zero_ || b.size == 0) return 0;
  const auto [constant, length] = zero_mean_->constant_part(ctx_, b);
  if (!(constant > std::max(stop.rel_tol * length, stop.abs_tol))) return 0;
  copy<T>(ctx_, b, projected);
  zero_mean_->remove_mean(ctx_, projected);
  return constant;
}

// Of the x that is returned, whose mean was taken out after the last attempt, and of the b that was given.
template <class T, Space S>
void SolverChain<T, S>::finish_in_null_space(SolveReport& report, double outside, Span<const T, S> b,
                                             Span<const T, S> x, const StopCriterion& stop) {
  if (zero_mean_ == nullptr || b.size == 0 || !std::isfinite(report.rhs_norm)) return;
  at_least(scalar_, 1);
  count_part_outside(report, outside, norm_in_range<T, S>(ctx_, b, scalar_.data()), stop);
  judge_anew(report, b, x);
  if (report.converged() && !(report.true_residual + report.residual_error_bound <= report.tolerance)) {
    overrule(report, Status::stagnation, stagnation_at(false, report.relative(report.true_residual)));
  }
}

// A solve that failed since no x meets the tolerance ends as stagnation, whatever the method has met.
template <class T, Space S>
void SolverChain<T, S>::look_for_inconsistency(SolveReport& report, Span<const T, S> b, Span<const T, S> x) {
  if (!may_be_inconsistent(report)) return;
  const auto failure = why_inconsistent<T, S>(ctx_, *A_, b, x, report.rhs_norm, report.tolerance);
  if (failure) overrule(report, Status::stagnation, *failure);
}

// x of the failed solve may have grown without bound: begins anew, without the constant part of b, and keeps the
// better of both.
template <class T, Space S>
void SolverChain<T, S>::solve_in_range(std::size_t step, SolveReport& whole, Span<const T, S> b, Span<T, S> x,
                                       const StopCriterion& stop, const ProgressFn& progress) {
  if (stop.max_iterations == 0) return;
  try {
    at_least(best_x_, A_->rows());
    at_least(projected_b_, A_->rows());
    at_least(scalar_, 1);
  } catch (const OutOfMemory&) {
    return;
  }
  copy<T>(ctx_, Span<const T, S>(x), best_x_.span());
  best_is_zero_ = false;
  copy<T>(ctx_, b, projected_b_.span());
  sum<T, S>(ctx_, b, scalar_.data());
  subtract_mean<T, S>(ctx_, scalar_.data(), projected_b_.span());
  fill<T, S>(ctx_, T(0), x);

  Span<const T, S> rest = projected_b_.cspan();
  OperatorExchange<T, S>* const exchange = std::exchange(exchange_, nullptr);
  SolveReport report = attempt(step, rest, x, stop, progress, InitialGuess::zero);
  exchange_ = exchange;
  report.rhs_norm = whole.rhs_norm;
  report.tolerance = whole.tolerance;
  for (Attempt& tried : report.attempts) tried.preconditioner = whole.attempts.back().preconditioner;
  judge_anew(report, b, Span<const T, S>(x));
  if (!(report.true_residual <= whole.true_residual)) {
    restore_best(x);
    take_residual(report, whole);
  }
  report.attempts.back().true_residual = report.true_residual;
  overrule(report, Status::stagnation, whole.failure);
  append_attempt(whole, std::move(report));
}

// A residual that is orthogonal to the range of a symmetric A is mapped to zero by it: x needs no part along it.
template <class T, Space S>
void SolverChain<T, S>::shorten(SolveReport& whole, Span<const T, S> b, Span<T, S> x) {
  constexpr double slack = std::is_same_v<T, double> ? 1e-12 : 1e-5;
  try {
    at_least(best_x_, A_->rows());
  } catch (const OutOfMemory&) {
    return;
  }
  SolveReport shorter;
  shorter.rhs_norm = whole.rhs_norm;
  judge_anew(shorter, b, Span<const T, S>(x));
  const Span<T, S> r = image_.span();
  scale_by_power<T, S>(ctx_, -std::ilogb(shorter.true_residual), image_.cspan(), r);
  dot<T, S>(ctx_, image_.cspan(), image_.cspan(), scalar_.data());
  const double square = fetch(ctx_, scalar_.data());
  dot<T, S>(ctx_, image_.cspan(), Span<const T, S>(x), scalar_.data());
  const double part = fetch(ctx_, scalar_.data()) / square;
  if (!std::isfinite(part) || part == 0) return;
  copy<T>(ctx_, Span<const T, S>(x), best_x_.span());
  best_is_zero_ = false;
  axpy<T, S>(ctx_, static_cast<T>(-part), image_.cspan(), x);
  judge_anew(shorter, b, Span<const T, S>(x));
  if (shorter.true_residual <= whole.true_residual * (1 + slack)) {
    take_residual(whole, shorter);
  } else {
    restore_best(x);
  }
}

#define X(T, S)                                                                                                   \
  template void SolverChain<T, S>::check_null_space();                                                            \
  template double SolverChain<T, S>::split_off_constant(Span<const T, S>, const StopCriterion&, Span<T, S>);      \
  template void SolverChain<T, S>::finish_in_null_space(SolveReport&, double, Span<const T, S>, Span<const T, S>, \
                                                        const StopCriterion&);                                    \
  template void SolverChain<T, S>::look_for_inconsistency(SolveReport&, Span<const T, S>, Span<const T, S>);      \
  template void SolverChain<T, S>::solve_in_range(std::size_t, SolveReport&, Span<const T, S>, Span<T, S>,        \
                                                  const StopCriterion&, const ProgressFn&);                       \
  template void SolverChain<T, S>::shorten(SolveReport&, Span<const T, S>, Span<T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
