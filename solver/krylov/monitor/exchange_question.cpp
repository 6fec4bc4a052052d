// SPDX-License-Identifier: Apache-2.0
// How a solve changes its operators.
#include "solver/krylov/monitor/exchange_question.hpp"

#include <algorithm>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {

template <class T, Space S>
int until_poll(const ConvergenceMonitor<T, S>& convergence) {
  const int every = convergence.check_every();
  const int to_exchange = convergence.exchange.not_before() - convergence.seen().iteration;
  return to_exchange > 0 ? std::min(every, to_exchange) : every;
}

template <class T, Space S>
bool exchange_due(ConvergenceMonitor<T, S>& convergence) {
  ExchangeQuestion<T, S>& question = convergence.exchange;
  const MonitorState& seen = convergence.seen();
  if (question.owner() == nullptr || seen.iteration < question.not_before()) return false;
  question.prepare();
  question.forget();  // it may have been no more than when to prepare
  if (seen.iteration < question.not_before()) return false;
  IterationForecast<S>& forecast = convergence.forecast;
  const bool by_rate = forecast.left_by_rate(seen.tolerance) > 0;
  const double left = iterations_left(convergence);
  const double sure = forecast.sure(seen.tolerance, question.owner()->sure_of_solve());
  question.forget();
  return question.owner()->due({seen.iteration, left, by_rate, seen.residual, seen.tolerance, sure,
                                convergence.report.initial_residual, seen.gained, forecast.gained_lately(),
                                question.owner()->keeps_preconditioner()});
}

template <class T, Space S>
std::optional<SolveRequest<T, S>> exchange_operators(ConvergenceMonitor<T, S>& convergence,
                                                     const std::vector<Span<T, S>>& vectors,
                                                     bool* same_preconditioner) {
  convergence.exchange.forget();
  const auto changed = convergence.exchange.owner()->exchange(vectors);
  if (!changed) return std::nullopt;
  *same_preconditioner = changed->same_preconditioner;
  if (!changed->same_preconditioner) convergence.forecast.begin_again(convergence.seen());
  const SolveRequest<T, S>& before = convergence.residual.system();
  const SolveRequest<T, S> after{before.ctx,  changed->A,      changed->M,   changed->b,      changed->x,
                                 before.stop, before.progress, before.guess, before.exchange, before.give_up};
  convergence.residual.follow(after);
  return after;
}

#define X(T, S)                                                                            \
  template int until_poll(const ConvergenceMonitor<T, S>&);                                \
  template bool exchange_due(ConvergenceMonitor<T, S>&);                                   \
  template std::optional<SolveRequest<T, S>> exchange_operators(ConvergenceMonitor<T, S>&, \
                                                                const std::vector<Span<T, S>>&, bool*);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
