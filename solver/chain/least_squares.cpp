// SPDX-License-Identifier: Apache-2.0
// Parts of b that no x produces, and the shortest x for the rest.
#include "solver/chain/least_squares.hpp"

#include <cmath>
#include <type_traits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/krylov/monitor/inconsistency.hpp"
#include "solver/krylov/monitor/scaled_system.hpp"

namespace newel::detail {
namespace {

// Endings after which it is worth some products to look for the reason in A and b.
bool may_be_inconsistent(const SolveReport& report) {
  return worth_another_solver(report) || report.status == Status::max_iterations;
}

}  // namespace

template <class T, Space S>
void look_for_inconsistency(const Context<S>& ctx, const LinearOperator<T, S>& A, SolveReport& report,
                            Span<const T, S> b, Span<const T, S> x) {
  const bool is_singular = report.failure.cause == Cause::singular;  // of which a row of zeros is better evidence
  if (!is_singular && !may_be_inconsistent(report)) return;
  const auto failure = why_inconsistent<T, S>(ctx, A, b, x, report.rhs_norm, report.tolerance);
  if (failure && (!is_singular || failure->cause == Cause::zero_row)) overrule(report, Status::stagnation, *failure);
}

template <class T, Space S>
void shorten(const Context<S>& ctx, const LinearOperator<T, S>& A, ReturnedResidual<T, S>& judge, KeptX<T, S>& kept,
             SolveReport& whole, Span<const T, S> b, Span<T, S> x) {
  constexpr double slack = std::is_same_v<T, double> ? 1e-12 : 1e-5;
  try {
    kept.keep(ctx, x);
  } catch (const OutOfMemory&) {
    detail::require_alone(ctx);
    return;
  }
  SolveReport shorter;
  shorter.rhs_norm = whole.rhs_norm;
  judge.judge(ctx, A, shorter, b, x);
  const Span<T, S> r = judge.image.span();
  scale_by_power<T, S>(ctx, -std::ilogb(shorter.true_residual), judge.image.cspan(), r);
  dot<T, S>(ctx, judge.image.cspan(), judge.image.cspan(), judge.scalar.data());
  const double square = fetch(ctx, judge.scalar.data());
  dot<T, S>(ctx, judge.image.cspan(), Span<const T, S>(x), judge.scalar.data());
  const double part = fetch(ctx, judge.scalar.data()) / square;
  if (!std::isfinite(part) || part == 0) return;
  axpy<T, S>(ctx, static_cast<T>(-part), judge.image.cspan(), x);
  judge.judge(ctx, A, shorter, b, x);
  if (shorter.true_residual <= whole.true_residual * (1 + slack)) {
    take_residual(whole, shorter);
  } else {
    kept.restore(ctx, x);
  }
}

#define X(T, S)                                                                                                \
  template void look_for_inconsistency(const Context<S>&, const LinearOperator<T, S>&, SolveReport&,           \
                                       Span<const T, S>, Span<const T, S>);                                    \
  template void shorten(const Context<S>&, const LinearOperator<T, S>&, ReturnedResidual<T, S>&, KeptX<T, S>&, \
                        SolveReport&, Span<const T, S>, Span<T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
