// SPDX-License-Identifier: Apache-2.0
// Trying solvers again, in units that take the system to the middle of its range.
#include "solver/chain/other_units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/alone.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/chain/attempts.hpp"
#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {
namespace {

// Of its residual over |b|, up to which b alone decides about units.
constexpr double most_growth_of_guess = 0x1p40;
// Exponents of matrices that other units would leave as they are.
constexpr int near_one = 40;

// A report in the units of b' = 2^-exponent b, in those of b. A norm beyond the range is the largest number, not
// infinity, of which every residual would be no part at all.
void rescale(SolveReport& report, int exponent) {
  const auto in_units = [exponent](double& value) {
    const double in_those_of_b = std::ldexp(value, exponent);
    value = std::isfinite(value) ? std::min(in_those_of_b, std::numeric_limits<double>::max()) : in_those_of_b;
  };
  for (double* value : {&report.rhs_norm, &report.tolerance, &report.initial_residual, &report.recurrence_residual,
                        &report.true_residual, &report.residual_error_bound, &report.attainable_residual}) {
    in_units(*value);
  }
  for (double& residual : report.history) in_units(residual);
  for (Attempt& attempt : report.attempts) {
    in_units(attempt.true_residual);
    in_units(attempt.attainable_residual);
  }
}

// By which M of a vector near 1 comes near 1; `usual`, of an inverse of A, where that cannot be found out.
template <class T, Space S>
int exponent_to_one(const Context<S>& ctx, const LinearOperator<T, S>& M, int usual) {
  Array<T, S> v(ctx, M.rows()), w(ctx, M.rows());
  Array<double, S> scratch(ctx, 1);
  const double norm = estimated_norm<T, S>(ctx, M, v.span(), w.span(), scratch.data());
  return norm > 0 && std::isfinite(norm) ? -std::ilogb(norm) : usual;
}

}  // namespace

template <class T, Space S>
std::optional<SystemUnits> units_for(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                     const LinearOperator<T, S>* M, const SolveReport& report, Span<const T, S> b) {
  switch (report.status) {
    case Status::converged:
    case Status::max_iterations:
    case Status::time_limit:
    case Status::stopped_by_caller:
      return std::nullopt;
    default:
      break;
  }
  try {
    const auto units = units_out_of_range<T, S>(ctx, A, M, b);
    const double growth = report.initial_residual / report.rhs_norm;
    if (units || !(growth > most_growth_of_guess) || !std::isfinite(growth)) return units;
    // The residual of a guess may leave the range where b does not.
    Array<T, S> of_guess(ctx, b.size);
    scale_by_power<T, S>(ctx, std::ilogb(growth), b, of_guess.span());
    const auto of_residual = units_out_of_range<T, S>(ctx, A, M, of_guess.cspan());
    if (!of_residual || std::abs(of_residual->matrix) <= near_one) return std::nullopt;
    return SystemUnits{of_residual->matrix, of_residual->rhs - std::ilogb(growth)};
  } catch (const OutOfMemory&) {
    detail::require_alone(ctx);
    return std::nullopt;
  }
}

template <class T, Space S>
OtherUnits<T, S>::OtherUnits(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                             const std::vector<ChainStep<T, S>>& steps, bool constant_null_space, int matrix)
    : ctx_(ctx), matrix_(matrix), A_(ctx, A, -matrix), b_(ctx, A.rows()), x_(ctx, A.rows()) {
  if (M != nullptr) M_.emplace(ctx, *M, exponent_to_one(ctx, *M, matrix));
  std::vector<ChainStep<T, S>> in_double;
  for (const ChainStep<T, S>& step : steps) {
    if (!step.mixed) in_double.push_back(step);  // single precision has a range of its own
  }
  solvers_.emplace(ctx, std::move(in_double), A_, M_ ? &*M_ : nullptr, constant_null_space);
}

template <class T, Space S>
SolveReport OtherUnits<T, S>::solve(SolveReport before, const SystemUnits& units, Span<const T, S> b, Span<T, S> x,
                                    const StopCriterion& stop, const ProgressFn& progress) {
  const int of_x = units.rhs - units.matrix;
  const double of_guess = before.initial_residual;
  scale_by_power<T, S>(ctx_, -units.rhs, b, b_.span());
  scale_by_power<T, S>(ctx_, -of_x, Span<const T, S>(x), x_.span());
  StopCriterion scaled_stop = stop;
  scaled_stop.abs_tol = std::ldexp(stop.abs_tol, -units.rhs);
  ProgressFn scaled_progress;
  if (progress) {
    scaled_progress = [&](Progress now) {
      now.residual = std::ldexp(now.residual, units.rhs);
      now.tolerance = std::ldexp(now.tolerance, units.rhs);
      return progress(now);
    };
  }
  solvers_->values_changed();
  // A guess that leaves the range here is far from any solution, and worse than none.
  if (!guess_is_in_range(x)) fill<T, S>(ctx_, T(0), x_.span());
  SolveReport report = solvers_->solve(b_.cspan(), x_.span(), scaled_stop, scaled_progress);
  scale_by_power<T, S>(ctx_, of_x, x_.cspan(), x);
  judge(report, -of_x, x);
  rescale(report, units.rhs);
  report.tolerance =
      std::max(stop.rel_tol * report.rhs_norm, stop.abs_tol);  // whose absolute part may have been lost
  report.initial_residual = of_guess;
  if (before.iterations == 0) return report;
  append_attempt(before, std::move(report));
  return before;
}

template <class T, Space S>
bool OtherUnits<T, S>::guess_is_in_range(Span<const T, S> x) const {
  Array<double, S> size(ctx_, 1);
  return all_finite<T, S>(ctx_, x_.cspan(), size.data()) ||
         !all_finite<T, S>(ctx_, x, size.data());  // what is no number is refused with its name
}

// Of the x that is handed back, whose entries may have left the range.
template <class T, Space S>
void OtherUnits<T, S>::judge(SolveReport& report, int to_units, Span<const T, S> x) {
  scale_by_power<T, S>(ctx_, to_units, x, x_.span());
  const double before = report.true_residual;
  judge_.judge(ctx_, A_, report, b_.cspan(), x_.cspan());
  report.attempts.back().true_residual = report.true_residual;
  // Scaled back and forth, an x inside the range is the same.
  const bool same = report.true_residual <= before * (1 + 1e-6) && report.true_residual >= before * (1 - 1e-6);
  const bool still = report.converged() && report.true_residual + report.residual_error_bound <= report.tolerance;
  if (same || still || !std::isfinite(before)) return;
  report.status = report.attempts.back().status = Status::not_finite;
  report.failure = report.attempts.back().failure = {Cause::solution_out_of_range};
  report.attainable_residual = report.attempts.back().attainable_residual = 0;
}

#define X(T, S)                                                                                 \
  template class OtherUnits<T, S>;                                                              \
  template std::optional<SystemUnits> units_for(const Context<S>&, const LinearOperator<T, S>&, \
                                                const LinearOperator<T, S>*, const SolveReport&, Span<const T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
