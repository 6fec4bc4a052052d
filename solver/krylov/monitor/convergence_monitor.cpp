// SPDX-License-Identifier: Apache-2.0
// The host's side of a solve: its polls.
#include "solver/krylov/monitor/convergence_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {
namespace {

constexpr int most_replacements = 3;

void check_criterion(const StopCriterion& stop) {
  if (stop.max_iterations < 0) throw InputError("max_iterations must be 0 or more");
  if (!(stop.rel_tol >= 0) || !(stop.abs_tol >= 0)) throw InputError("tolerances must be 0 or more");
  if (!(stop.time_limit_seconds >= 0)) throw InputError("the time limit must be 0 (none) or more");
  if (stop.check_every < 0 || stop.check_every > MonitorState::max_between_polls) {
    throw InputError("check_every must be 0 (automatic) to " + std::to_string(MonitorState::max_between_polls));
  }
}

// Growth that is no divergence is allowed for in a state whose residuals are in units of `unit`.
void allow_for_growth(MonitorState& monitor, double limit, double unit) {
  monitor.growth_limit = limit / unit;
  if (monitor.residual > monitor.growth_limit) return;
  monitor.event = event_of(monitor.residual, monitor.tolerance, monitor.iteration, monitor.max_iterations);
}

}  // namespace

template <class T, Space S>
void check_system(std::int64_t n, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, Span<const T, S> b,
                  Span<const T, S> x) {
  if (A.rows() != n || A.cols() != n || b.size != n || x.size != n ||
      (M != nullptr && (M->rows() != n || M->cols() != n))) {
    throw InputError("a solver of " + std::to_string(n) + " unknowns got a matrix of " + std::to_string(A.rows()) +
                     " x " + std::to_string(A.cols()) + ", b of length " + std::to_string(b.size) + ", x of length " +
                     std::to_string(x.size) +
                     (M != nullptr ? ", a preconditioner of " + std::to_string(M->rows()) : ""));
  }
  if (n > 0 && b.data < x.data + n && x.data < b.data + n) throw InputError("b and x share memory");
}

template <class T, Space S>
ConvergenceMonitor<T, S>::ConvergenceMonitor(std::string_view solver, std::int64_t n,
                                             const SolveRequest<T, S>& arguments, double* scratch, int expected)
    : residual(arguments, scratch),
      forecast(expected),
      exchange(arguments.exchange),
      from_zero_(arguments.guess == InitialGuess::zero) {
  check_system<T, S>(n, arguments.A, arguments.M, arguments.b, arguments.x);
  check_criterion(arguments.stop);
  arguments.ctx.make_current();
  report.solver = report.method = solver;
}

// A poll waits for the device, and an iteration after the end is wasted. If the previous solve took few iterations,
// this one is polled after as many, and often from then on. Where M takes long, the rate of the residual tells when
// the end is near.
template <class T, Space S>
int ConvergenceMonitor<T, S>::check_every() const {
  constexpr int seldom = 16, often = 4;
  constexpr double safe_share = 0.75;  // of the iterations that the rate makes expect
  const SolveRequest<T, S>& system = residual.system();
  if (system.stop.check_every > 0) return system.stop.check_every;
  if (S == Space::host) return 1;
  const int to_expected = forecast.to_expected(seen_.iteration);
  if (system.M != nullptr && system.M->traits().takes_long) {
    const double by_rate = forecast.left_by_rate(seen_.tolerance);
    double next = to_expected > 0 ? to_expected : by_rate > 0 ? safe_share * by_rate : often;
    if (by_rate > 0) next = std::min(next, std::ceil(by_rate));
    return static_cast<int>(std::clamp(next, 1.0, double{seldom}));
  }
  if (forecast.expected() <= 0 || forecast.expected() >= seldom) return seldom;
  return to_expected > 0 ? to_expected : often;
}

template <class T, Space S>
MonitorState ConvergenceMonitor<T, S>::fresh_monitor() const {
  const int max_iterations = residual.system().stop.max_iterations;
  MonitorState monitor{};
  monitor.tolerance = report.tolerance;
  monitor.growth_limit = growth.limit();
  monitor.residual = residual.norm();
  monitor.gained = seen_.gained;
  monitor.iteration = seen_.iteration;
  monitor.max_iterations = max_iterations;
  monitor.event = seen_.iteration >= max_iterations ? Event::iterations_spent : Event::none;
  return monitor;
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::poll(MonitorState* monitor) {
  const int before = seen_.iteration;
  const Context<S>& ctx = residual.system().ctx;
  if constexpr (S == Space::device) exchange.prepare();  // it is at work on the iterations
  seen_ = fetch(ctx, static_cast<const MonitorState*>(monitor));
  if (seen_.event == Event::diverged && growth.is_harmless()) {
    allow_for_growth(seen_, growth.limit(), 1);
    copy<MonitorState>(ctx, Span<const MonitorState, Space::host>(&seen_, 1), Span<MonitorState, S>(monitor, 1));
  }
  for (int k = before + 1; k <= seen_.iteration; ++k) {
    report.history.push_back(seen_.recent[k % MonitorState::max_between_polls]);
  }
  return record_progress();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::poll(int iteration, Event event, const double* residuals, double gained) {
  for (int k = seen_.iteration + 1; k <= iteration && event != Event::tolerance_met; ++k) {
    const double reached = residuals[k - seen_.iteration - 1];
    if (!(reached > growth.limit()) || (growth.is_harmless() && !(reached > growth.limit()))) continue;
    iteration = k;
    event = Event::diverged;
  }
  report.history.insert(report.history.end(), residuals, residuals + (iteration - seen_.iteration));
  seen_.tolerance = report.tolerance;
  seen_.residual = report.history.back();
  seen_.gained += gained;
  seen_.iteration = iteration;
  seen_.event = event;
  return record_progress();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::poll(MonitorState& state, double unit) {
  if (state.event == Event::diverged && growth.is_harmless()) allow_for_growth(state, growth.limit(), unit);
  double residuals[MonitorState::max_between_polls];
  for (int k = seen_.iteration + 1; k <= state.iteration; ++k) {
    residuals[k - seen_.iteration - 1] = unit * state.recent[k % MonitorState::max_between_polls];
  }
  return poll(state.iteration, state.event, residuals);
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::record_progress() {
  const SolveRequest<T, S>& system = residual.system();
  if (seen_.iteration > report.iterations) residual.x_has_changed();
  report.iterations = seen_.iteration;
  report.recurrence_residual = seen_.residual;
  forecast.note(report.history, seen_);
  Progress now{report.solver,   seen_.iteration, seen_.residual, report.relative(seen_.residual),
               seen_.tolerance, clock.seconds()};
  if (system.progress) now.iterations_left = iterations_left(*this);
  clock.tell(system, now);
  return seen_.running() && !clock.interrupted();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::confirm(Span<T, S> r) {
  if (residual.form(r)) {
    outcome.conclude(Status::converged);
  } else if (!std::isfinite(residual.norm())) {
    conclude(Event::not_finite);
  } else if (clock.interrupted()) {
    conclude(Event::none);
  } else if (report.residual_replacements == most_replacements) {
    outcome.conclude_stagnation();
  } else {
    ++report.residual_replacements;
    return false;
  }
  return true;
}

template <class T, Space S>
double iterations_left(ConvergenceMonitor<T, S>& convergence) {
  const SolveRequest<T, S>& system = convergence.residual.system();
  return convergence.forecast.left(system.ctx, convergence.seen(),
                                   static_cast<double>(all_rows(system.ctx, system.x.size)),
                                   convergence.exchange.of_usual_iterations());
}

#define X(T, S)                                                                                      \
  template class ConvergenceMonitor<T, S>;                                                           \
  template double iterations_left(ConvergenceMonitor<T, S>&);                                        \
  template void check_system(std::int64_t, const LinearOperator<T, S>&, const LinearOperator<T, S>*, \
                             Span<const T, S>, Span<const T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
