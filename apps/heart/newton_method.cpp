// SPDX-License-Identifier: Apache-2.0
// Newton's method for a time step of the heart in both spaces.
#include "apps/heart/newton_method.hpp"

#include <algorithm>
#include <cmath>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/registry.hpp>

namespace newel::heart {
namespace {

using transient::Phase;

// A linear system is solved as far as Newton's method will get with it: its next residual is about quadratic in this
// one.
constexpr double forcing = 1e-3;
// And where the tolerance is near, a little below it, so that the next residual meets it.
constexpr double below_tolerance = 0.3;
// A preconditioner that costs more than a product is kept until a solve needs that many times the iterations.
constexpr double worn_out = 1.4;

std::string refusal_of(const detail::ElementVerdict& verdict) {
  if (verdict.failed > 0) return "the recovery variable of an element does not converge";
  if (verdict.too_steep > 0) return "the reaction is too fast for the step";
  return {};
}

double norm_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

PrecondAge::PrecondAge(const std::string& name) : cheap_(name == "none" || find_preconditioner(name).diagonal) {}

bool PrecondAge::is_due(double dt, bool first_of_step) const {
  const bool worn = fresh_iterations_ > 0 && last_iterations_ > worn_out * fresh_iterations_ + 2;
  return cheap_ || dt != dt_ || (first_of_step && worn);
}

template <Space S>
NewtonMethod<S>::NewtonMethod(const Context<S>& ctx, const NewtonOptions& options, const StopCriterion& limits,
                              LinearSystem<double, S>& system, HeartAssembly<S>& assembly)
    : ctx_(ctx),
      options_(options),
      limits_(limits),
      system_(system),
      assembly_(assembly),
      volume_norm_(norm_of(assembly.node_volumes(ctx))),
      rhs_(ctx, system.rows()),
      preconditioner_(system.info().preconditioner.name) {}

// The element results of a linearisation are read with the residual after its solve, by one wait for both, or where
// the step would end earlier: a solve is then occasionally wasted, and most steps wait once less.
template <Space S>
StepOutcome NewtonMethod<S>::run(const ElementForces& forces, Array<double, S>& phi, Array<double, S>& r,
                                 transient::Shares& shares, transient::SolveTotals& totals) {
  StepOutcome outcome;
  const double scale = volume_norm_ / forces.dt;
  const auto refused = [&](const detail::ElementVerdict& verdict) {
    outcome.refusal = refusal_of(verdict);
    return !outcome.refusal.empty();
  };
  const auto met = [&](double residual) {
    outcome.residual = residual / scale;
    return outcome.residual <= options_.tolerance;
  };
  for (int k = 0; k <= options_.most_iterations; ++k) {
    const double last = outcome.residual;
    const bool checks = k > 0 && assembly_.checks();
    if (checks) {
      const detail::StepVerdict verdict = check(forces, phi, r, shares, totals);
      if (refused(verdict.linearized) || refused(verdict.checked) || met(verdict.residual)) return outcome;
    }
    shares.timed(ctx_, Phase::elements, [&] { assembly_.linearize(ctx_, forces, phi.cspan(), r.span()); });
    const auto linearized = [&] { return assembly_.verdict(ctx_).linearized; };
    if (!assembly_.checks() && refused(linearized())) return outcome;
    const std::string indefinite = assemble(forces.dt, k, shares);
    if (!indefinite.empty()) {
      if (!refused(linearized())) outcome.refusal = indefinite;
      return outcome;
    }
    const SolveReport report = solve(k, options_.tolerance * scale, phi, shares, totals);
    outcome.iterations += report.iterations;
    outcome.newton += report.iterations > 0 ? 1 : 0;
    if (!checks && met(report.initial_residual)) {
      refused(linearized());
      return outcome;
    }
    if (!report.converged()) {
      if (!refused(linearized())) {
        outcome.refusal = "the solver ends with " + std::string(name_of(report.status)) + ": " + report.reason;
      }
    } else if (k > 1 && outcome.residual > last) {
      outcome.refusal = "Newton's method diverges";
    }
    if (!outcome.refusal.empty()) return outcome;
  }
  outcome.refusal = "Newton's method does not converge";
  return outcome;
}

// |R| at phi, by the matrix of the iteration before: most steps end here, and need no matrix of their own.
template <Space S>
detail::StepVerdict NewtonMethod<S>::check(const ElementForces& forces, const Array<double, S>& phi,
                                           Array<double, S>& r, transient::Shares& shares,
                                           transient::SolveTotals& totals) {
  shares.timed(ctx_, Phase::check, [&] { assembly_.check(ctx_, forces, phi.cspan(), r.span(), rhs_.span()); });
  ++totals.other_products;
  return shares.timed(ctx_, Phase::solve, [&] {
    system_.ordered().matrix().apply(ctx_, -1.0, phi.cspan(), 1.0, rhs_.span());
    norm2<double, S>(ctx_, rhs_.cspan(), assembly_.residual());
    return assembly_.verdict(ctx_);
  });
}

// Matrix, preconditioner where it is due, right-hand side; returns why not.
template <Space S>
std::string NewtonMethod<S>::assemble(double dt, int newton, transient::Shares& shares) {
  const bool due = preconditioner_.is_due(dt, newton == 0);
  try {
    shares.timed(ctx_, Phase::sums, [&] {
      assembly_.fill(ctx_, due ? RefreshScope::everything : RefreshScope::operator_only, rhs_.span());
    });
  } catch (const NotPositiveDefinite& e) {
    return e.what();
  } catch (const ZeroDiagonal& e) {
    return e.what();
  }
  if (due) preconditioner_.made(dt);
  return {};
}

// Towards |K phi - rhs| <= tolerance, from the present phi. The first solves of a step go only as far as Newton's
// method will follow, judged by the step before; where that one was accepted without a solve, so may this.
template <Space S>
SolveReport NewtonMethod<S>::solve(int newton, double tolerance, Array<double, S>& phi, transient::Shares& shares,
                                   transient::SolveTotals& totals) {
  const auto k = static_cast<std::size_t>(newton);
  const double expected = k < expected_residual_.size() ? expected_residual_[k] : 0;
  const bool last = expected > 0 && expected <= tolerance;
  StopCriterion stop = limits_;
  stop.rel_tol = 0;
  stop.abs_tol = last ? tolerance : std::max(below_tolerance * tolerance, forcing * expected);
  SolveReport report = solve_to(stop, phi, shares, totals);
  const double residual = report.initial_residual;
  if (report.iterations == 0 && report.converged() && residual > tolerance) {  // the step before was no guide
    stop.abs_tol = std::max(below_tolerance * tolerance, forcing * residual);
    report = solve_to(stop, phi, shares, totals);
  }
  expected_residual_.resize(std::max(expected_residual_.size(), k + 1), 0.0);
  expected_residual_[k] = residual;
  if (newton == 0) preconditioner_.solved(report.iterations);
  return report;
}

template <Space S>
SolveReport NewtonMethod<S>::solve_to(const StopCriterion& stop, Array<double, S>& phi, transient::Shares& shares,
                                      transient::SolveTotals& totals) {
  system_.set_stop_criterion(stop);
  SolveReport report = shares.timed(ctx_, Phase::solve, [&] {
    return other_solver_ ? other_solver_(rhs_.cspan(), phi.span(), stop) : system_.ordered().solve(rhs_, phi);
  });
  totals.add(report);
  return report;
}

#define X(S) template class NewtonMethod<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
