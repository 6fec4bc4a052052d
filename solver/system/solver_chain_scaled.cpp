// SPDX-License-Identifier: Apache-2.0
// Trying solvers again, in units that take the system to the middle of its range.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/true_residual.hpp"
#include "solver/system/solver_chain.hpp"

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

}  // namespace

/// The system in other units, and its solvers.
template <class T, Space S>
struct SolverChain<T, S>::Scaled {
  int matrix;
  ScaledOperator<T, S> A;
  std::optional<ScaledOperator<T, S>> M;
  Array<T, S> b, x;
  std::optional<SolverChain<T, S>> solvers;

  // By which M of a vector near 1 comes near 1; `usual`, of an inverse of A, where that cannot be found out.
  static int exponent_to_one(const Context<S>& ctx, const LinearOperator<T, S>& M, int usual) {
    Array<T, S> v(ctx, M.rows()), w(ctx, M.rows());
    Array<double, S> scratch(ctx, 1);
    const double norm = estimated_norm<T, S>(ctx, M, v.span(), w.span(), scratch.data());
    return norm > 0 && std::isfinite(norm) ? -std::ilogb(norm) : usual;
  }

  Scaled(const SolverChain& own, int exponent)
      : matrix(exponent), A(own.ctx_, *own.A_, -exponent), b(own.ctx_, own.A_->rows()), x(own.ctx_, own.A_->rows()) {
    if (own.M_ != nullptr) M.emplace(own.ctx_, *own.M_, exponent_to_one(own.ctx_, *own.M_, exponent));
    std::vector<ChainStep<T, S>> steps;
    for (const ChainStep<T, S>& step : own.steps_) {
      if (!step.mixed) steps.push_back(step);  // single precision has a range of its own
    }
    solvers.emplace(own.ctx_, std::move(steps), A, M ? &*M : nullptr, own.zero_mean_ != nullptr);
  }
};

// The units for a system whose first solver failed by its range, as far as that can be found out.
template <class T, Space S>
std::optional<SystemUnits> SolverChain<T, S>::units_for(const SolveReport& report, Span<const T, S> b) const {
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
    const auto units = units_out_of_range<T, S>(ctx_, *A_, M_, b);
    const double growth = report.initial_residual / report.rhs_norm;
    if (units || !(growth > most_growth_of_guess) || !std::isfinite(growth)) return units;
    // The residual of a guess may leave the range where b does not.
    Array<T, S> of_guess(ctx_, b.size);
    scale_by_power<T, S>(ctx_, std::ilogb(growth), b, of_guess.span());
    const auto of_residual = units_out_of_range<T, S>(ctx_, *A_, M_, of_guess.cspan());
    if (!of_residual || std::abs(of_residual->matrix) <= near_one) return std::nullopt;
    return SystemUnits{of_residual->matrix, of_residual->rhs - std::ilogb(growth)};
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

// Begins anew, and keeps the better x of both.
template <class T, Space S>
SolveReport SolverChain<T, S>::go_on_in_other_units(SolveReport whole, const SystemUnits& units, Span<const T, S> b,
                                                    Span<T, S> x, const StopCriterion& stop,
                                                    const ProgressFn& progress) {
  SolveReport before;
  take_residual(before, whole);
  Array<T, S> x_before;
  if (whole.iterations > 0 && std::isfinite(before.true_residual)) {
    try {
      x_before = Array<T, S>(ctx_, x.size);
      copy<T>(ctx_, Span<const T, S>(x), x_before.span());
    } catch (const OutOfMemory&) {
    }
  }
  if (has_several()) {
    restore_best(x);
  } else if (whole.iterations > 0) {
    fill<T, S>(ctx_, T(0), x);
  }
  SolveReport report = solve_scaled(std::move(whole), units, b, x, stop, progress);
  if (x_before.size() > 0 && !report.converged() && !(report.true_residual <= before.true_residual)) {
    copy<T>(ctx_, x_before.cspan(), x);
    take_residual(report, before);
  }
  settle_attainable(report);
  return report;
}

template <class T, Space S>
SolveReport SolverChain<T, S>::solve_scaled(SolveReport whole, const SystemUnits& units, Span<const T, S> b,
                                            Span<T, S> x, const StopCriterion& stop, const ProgressFn& progress) {
  try {
    if (scaled_ == nullptr || scaled_->matrix != units.matrix) scaled_ = nullptr;
    if (scaled_ == nullptr) scaled_ = std::make_shared<Scaled>(*this, units.matrix);
  } catch (const OutOfMemory& e) {
    whole.failure.untried.push_back({"", e.what()});
    return whole;
  }
  Scaled& in = *scaled_;
  const int of_x = units.rhs - units.matrix;
  const double of_guess = whole.initial_residual;
  scale_by_power<T, S>(ctx_, -units.rhs, b, in.b.span());
  scale_by_power<T, S>(ctx_, -of_x, Span<const T, S>(x), in.x.span());
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
  in.solvers->values_changed();
  // A guess that leaves the range here is far from any solution, and worse than none.
  if (!guess_is_in_range(in, Span<const T, S>(x))) fill<T, S>(ctx_, T(0), in.x.span());
  SolveReport report = in.solvers->solve(in.b.cspan(), in.x.span(), scaled_stop, scaled_progress);
  scale_by_power<T, S>(ctx_, of_x, in.x.cspan(), x);
  judge_scaled_back(report, in, -of_x, Span<const T, S>(x));
  rescale(report, units.rhs);
  report.tolerance =
      std::max(stop.rel_tol * report.rhs_norm, stop.abs_tol);  // whose absolute part may have been lost
  report.initial_residual = of_guess;
  if (whole.iterations == 0) return report;
  append_attempt(whole, std::move(report));
  return whole;
}

template <class T, Space S>
bool SolverChain<T, S>::guess_is_in_range(const Scaled& in, Span<const T, S> x) const {
  Array<double, S> size(ctx_, 1);
  const auto is_finite = [&](Span<const T, S> v) {
    max_abs<T>(ctx_, v, size.data());
    return std::isfinite(fetch(ctx_, static_cast<const double*>(size.data())));
  };
  return is_finite(in.x.cspan()) || !is_finite(x);  // what is no number is refused with its name
}

// Of the x that is handed back, whose entries may have left the range.
template <class T, Space S>
void SolverChain<T, S>::judge_scaled_back(SolveReport& report, Scaled& in, int to_units, Span<const T, S> x) const {
  scale_by_power<T, S>(ctx_, to_units, x, in.x.span());
  const double before = report.true_residual;
  in.solvers->judge_anew(report, in.b.cspan(), in.x.cspan());
  report.attempts.back().true_residual = report.true_residual;
  // Scaled back and forth, an x inside the range is the same.
  const bool same = report.true_residual <= before * (1 + 1e-6) && report.true_residual >= before * (1 - 1e-6);
  const bool still = report.converged() && report.true_residual + report.residual_error_bound <= report.tolerance;
  if (same || still || !std::isfinite(before)) return;
  report.status = report.attempts.back().status = Status::not_finite;
  report.failure = report.attempts.back().failure = {Cause::solution_out_of_range};
  report.attainable_residual = report.attempts.back().attainable_residual = 0;
}

#define X(T, S)                                                                                                      \
  template struct SolverChain<T, S>::Scaled;                                                                         \
  template std::optional<SystemUnits> SolverChain<T, S>::units_for(const SolveReport&, Span<const T, S>) const;      \
  template SolveReport SolverChain<T, S>::go_on_in_other_units(SolveReport, const SystemUnits&, Span<const T, S>,    \
                                                               Span<T, S>, const StopCriterion&, const ProgressFn&); \
  template SolveReport SolverChain<T, S>::solve_scaled(SolveReport, const SystemUnits&, Span<const T, S>,            \
                                                       Span<T, S>, const StopCriterion&, const ProgressFn&);         \
  template bool SolverChain<T, S>::guess_is_in_range(const Scaled&, Span<const T, S>) const;                         \
  template void SolverChain<T, S>::judge_scaled_back(SolveReport&, Scaled&, int, Span<const T, S>) const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
