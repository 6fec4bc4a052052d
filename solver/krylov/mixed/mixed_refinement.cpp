// SPDX-License-Identifier: Apache-2.0
// Iterative refinement in double around a solver in single precision, and its preconditioner for vectors in double.
#include <algorithm>
#include <limits>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/mixed/mixed_stagnation.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/steps/mixed_steps.hpp"

namespace newel::detail {
namespace {

Failure in_single_precision(Failure failure) {
  failure.in_single_precision = true;
  return failure;
}

}  // namespace

template <Space S>
WidenedPrecond<S>::WidenedPrecond(const Context<S>& ctx, LowSystem<S> low)
    : low_(low), norm_(ctx, 1), x_(ctx, low.A.rows()), z_(ctx, low.A.rows()) {}

template <Space S>
void WidenedPrecond<S>::apply(const Context<S>& ctx, double alpha, Span<const double, S> x, double beta,
                              Span<double, S> y) const {
  norm2<double, S>(ctx, x, norm_.data());
  sweep(ctx, x.size, RoundByNorm{norm_.data(), x.data, x_.data()});
  low_.M->apply(ctx, 1, x_.cspan(), 0, z_.span());
  sweep(ctx, x.size, AddWidened{norm_.data(), z_.data(), y.data, alpha * low_.scale, beta});
}

template <Space S>
MixedRefinement<S>::MixedRefinement(const Context<S>& ctx, LowSystem<S> low,
                                    std::unique_ptr<KrylovSolver<float, S>> inner, int cycle_length)
    : low_(low),
      inner_(std::move(inner)),
      cycle_length_(cycle_length),
      name_(mixed_name(inner_->name())),
      s_(ctx, low.A.rows()),
      d_(ctx, low.A.rows()),
      r_(ctx, low.A.rows()),
      scratch_(ctx, 1) {}

template <Space S>
SolveReport MixedRefinement<S>::run(const SolveRequest<double, S>& request) {
  constexpr double reduction = 1e-3, least_reduction = 1e-5;  // of BiCGStab; of a cycle of GMRES
  const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up, recycling] = request;
  const std::int64_t n = r_.size();
  const ProgressFn silent;  // the inner solver calls back; the convergence monitor sees whole solves only
  const SolveRequest<double, S> system{ctx, A, nullptr, b, x, stop, silent, guess};
  ConvergenceMonitor<double, S> convergence(name(), n, system, scratch_.data(), 0);
  convergence.growth.watch(std::numeric_limits<double>::infinity(), 0, {});  // the inner solver sees to that
  SolveReport& report = convergence.report;
  report.cycle_length = cycle_length_;
  report.method = inner_->name();

  bool more = convergence.open(r_.span());  // r = b - A x
  StagnationTest stagnation_test;
  while (more) {
    const double before = convergence.residual.norm(), unit = power_of_two_below(before);
    const int done = convergence.seen().iteration;
    StopCriterion inner = limits_left(stop, done, convergence.clock.seconds());
    inner.abs_tol = 0;
    inner.rel_tol =
        std::max(cycle_length_ > 0 ? least_reduction : reduction, 0.9 * convergence.residual.tolerance() / before);
    if (cycle_length_ > 0) inner.max_iterations = std::min(cycle_length_, inner.max_iterations);
    sweep(ctx, n, RoundStep(r_.data(), s_.data(), 1 / unit));
    fill<float, S>(ctx, 0, d_.span());
    const auto of_whole = [&](const Progress& now) {
      const double residual = unit * now.residual;
      return Progress{name_,
                      done + now.iteration,
                      residual,
                      report.relative(residual),
                      report.tolerance,
                      convergence.clock.seconds()};
    };
    const ProgressFn progress_of_inner = [&](const Progress& now) {
      return !request.progress || request.progress(of_whole(now));
    };
    std::optional<Failure> given_up;
    const GiveUpFn give_up_inner = [&](const Progress& now) {
      if (request.give_up != nullptr) given_up = (*request.give_up)(of_whole(now));
      return given_up;
    };
    const SolveReport part = inner_->run({ctx, low_.A, low_.M, s_.cspan(), d_.span(), inner, progress_of_inner,
                                          InitialGuess::zero, nullptr, &give_up_inner});
    sweep(ctx, n, AddCorrection(d_.data(), x.data, low_.scale * unit));
    const bool spent = done + part.iterations >= stop.max_iterations;
    if (part.iterations > 0) {
      std::vector<double> residuals(part.history.begin() + 1, part.history.end());
      for (double& residual : residuals) residual *= unit;
      convergence.poll(done + part.iterations, spent ? Event::iterations_spent : Event::none, residuals.data());
    }
    report.second_passes += part.second_passes;
    if (convergence.residual.form(r_)) {  // r = b - A x
      convergence.outcome.conclude(Status::converged);
      break;
    }
    stagnation_test.note(before, report.recurrence_residual, convergence.residual.norm());
    if (!(convergence.residual.norm() <= before)) {
      sweep(ctx, n, AddCorrection(d_.data(), x.data, -low_.scale * unit));
      convergence.residual.form(r_);
    }
    if (part.status == Status::stopped_by_caller || part.status == Status::time_limit) {
      convergence.outcome.conclude(part.status, part.failure);
    } else if (part.status == Status::stagnation && given_up) {
      convergence.outcome.conclude(Status::stagnation, *given_up);
    } else if (spent) {
      convergence.conclude(Event::iterations_spent);
    } else if (part.status == Status::diverged) {
      convergence.outcome.conclude(Status::diverged, in_single_precision(part.failure));
    } else if (part.status == Status::breakdown || part.status == Status::not_finite || part.iterations == 0) {
      convergence.outcome.conclude(Status::breakdown, in_single_precision(part.failure));
    } else if (stagnation_test.stagnated()) {
      convergence.outcome.conclude(Status::stagnation, StagnationTest::failure());
    } else {
      ++report.refinements;
      continue;
    }
    break;
  }
  return convergence.close(r_);
}

#define X(S)                        \
  template class WidenedPrecond<S>; \
  template class MixedRefinement<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
