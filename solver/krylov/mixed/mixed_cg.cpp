// SPDX-License-Identifier: Apache-2.0
// CG in single precision for a system in double.
#include <algorithm>
#include <limits>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/mixed/mixed_solvers.hpp"
#include "solver/krylov/mixed/mixed_stagnation.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/monitor/symmetry.hpp"
#include "solver/krylov/steps/mixed_steps.hpp"

namespace newel::detail {

template <Space S>
MixedCg<S>::MixedCg(const Context<S>& ctx, LowSystem<S> low)
    : low_(low), cg_(ctx, low.A.rows()), d_(ctx, low.A.rows()), r_(ctx, low.A.rows()) {}

// An iteration is one of Cg in single precision, half its bytes; for each digit of the residual come a product in
// double and eight passes.
template <Space S>
SolveReport MixedCg<S>::run(const SolveRequest<double, S>& request) {
  constexpr double reduction = 0.1;
  const Context<S>& ctx = request.ctx;
  const Span<double, S> x = request.x;
  const std::int64_t n = r_.size();
  const SolveRequest<double, S> system{ctx,          request.A,        nullptr,       request.b, x,
                                       request.stop, request.progress, request.guess, nullptr,   request.give_up};
  ConvergenceMonitor<double, S> convergence(name(), n, system, &cg_.state()->scratch, last_iterations_);

  convergence.growth.watch(first_growth, most_growth<float>,
                           [&] { return symmetry_fault<float, S>(ctx, low_.A, low_.M); });

  convergence.report.method = "cg";
  bool more = convergence.open(r_.span());  // r = b - A x
  const double unit = power_of_two_below(convergence.residual.norm());
  if (more) {
    cg_.bind(ctx, low_.A, low_.M, d_.span());
    fill<float, S>(ctx, 0, cg_.p());
  }
  StagnationTest stagnation_test;
  for (bool first = true; more; first = false) {
    const double before = convergence.residual.norm();
    const double target = std::max(reduction * before, convergence.residual.tolerance());
    MonitorState monitor = convergence.fresh_monitor();
    monitor.tolerance = target / unit;
    monitor.growth_limit /= unit;
    monitor.residual = before / unit;
    sweep(ctx, n,
          MixedReplace{monitor, first, low_.M != nullptr, std::numeric_limits<double>::infinity(), 1 / unit,
                       r_.data(), cg_.r().data, d_.data(), cg_.state()});
    cg_.first_rho();
    DriftWatch watch(convergence.seen().iteration);
    do {
      cg_.repeat(convergence.check_every());
    } while (poll(ctx, convergence, unit) &&
             !(watch.due(convergence.seen().iteration) && watch.note(drift(ctx, convergence, unit, x), target)));
    cg_.finish();
    const double recurrence = convergence.report.recurrence_residual;
    sweep(ctx, n, AddCorrection(d_.data(), x.data, low_.scale * unit));
    if (convergence.residual.form(r_)) {  // r = b - A x
      convergence.outcome.conclude(Status::converged);
      break;
    }
    stagnation_test.note(before, recurrence, convergence.residual.norm());
    // A residual of CG jumps while its error falls: after a drift a larger one may be the better x.
    if (!(convergence.residual.norm() <= (watch.drifted() ? DriftWatch::most_growth : 1) * before)) {
      sweep(ctx, n, AddCorrection(d_.data(), x.data, -low_.scale * unit));
      convergence.residual.form(r_);
    }
    if (convergence.clock.interrupted()) {
      convergence.conclude(Event::none);
    } else if (convergence.seen().event == Event::iterations_spent) {
      convergence.conclude(Event::iterations_spent);
    } else if (convergence.seen().event == Event::diverged) {
      convergence.conclude(Event::diverged);
    } else if (watch.drifted()) {
      convergence.outcome.conclude(Status::stagnation, StagnationTest::failure());
    } else if (convergence.seen().event != Event::tolerance_met) {
      convergence.outcome.conclude(Status::breakdown, {Cause::single_precision});
    } else if (stagnation_test.stagnated()) {
      convergence.outcome.conclude(Status::stagnation, StagnationTest::failure());
    } else {
      ++convergence.report.refinements;
      continue;
    }
    break;
  }
  last_iterations_ = convergence.seen().iteration;
  return convergence.close(r_);
}

// How far the residual that the recurrence knows has drifted from the true one since the last replacement: one
// product in double. The recurrence goes on as if nothing had been; r_ is lost until the next replacement.
template <Space S>
double MixedCg<S>::drift(const Context<S>& ctx, ConvergenceMonitor<double, S>& convergence, double unit,
                         Span<double, S> x) {
  cg_.finish();
  (void)cg_.pause();
  sweep(ctx, r_.size(), AddCorrection(d_.data(), x.data, low_.scale * unit));
  convergence.residual.form(r_);  // r = b - A x
  sweep(ctx, r_.size(), AddCorrection(d_.data(), x.data, -low_.scale * unit));
  sweep(ctx, r_.size(), AddCorrection(cg_.r().data, r_.data(), -unit));
  norm2<double, S>(ctx, r_.cspan(), &cg_.state()->scratch);
  return fetch(ctx, static_cast<const double*>(&cg_.state()->scratch));
}

// Growth that is no divergence is allowed for in S too.
template <Space S>
bool MixedCg<S>::poll(const Context<S>& ctx, ConvergenceMonitor<double, S>& convergence, double unit) {
  MonitorState* const there = &cg_.state()->monitor;
  MonitorState seen = fetch(ctx, static_cast<const MonitorState*>(there));
  const Event event = seen.event;
  const bool more = convergence.poll(seen, unit);
  if (seen.event != event)
    copy<MonitorState>(ctx, Span<const MonitorState, Space::host>(&seen, 1), Span<MonitorState, S>(there, 1));
  return more;
}

#define X(S) template class MixedCg<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
