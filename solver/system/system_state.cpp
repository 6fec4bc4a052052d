// SPDX-License-Identifier: Apache-2.0
// A system between its solves.
#include "solver/system/system_state.hpp"

#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/operators/system_estimates.hpp"
#include "solver/system/system_moves.hpp"

namespace newel::detail {

template <class T, Space S>
SystemState<T, S>::SystemState(const Context<S>& context, const SystemOptions& options)
    : ctx(context),
      stop(options.stop),
      sequence(guess_rule(options.solver.of<GuessOptions>().guess)),
      recycling(recycle_rule(options.solver.of<RecycleOptions>().recycle)),
      gate(lock_of(ctx)) {
  gate.require_free();
  ctx.make_current();
  if (options.columns < 1)
    throw InputError("SystemOptions::columns must be 1 or more, not " + std::to_string(options.columns));
  if (!(options.expected_products >= 0)) throw InputError("SystemOptions::expected_products must not be negative");
  recycling.weigh_by([this](RecycledKind kind, int vectors) { return recycle_costs(*this, kind, vectors); });
}

template <class T, Space S>
SystemState<T, S>::~SystemState() {
  keep_decision(*this, true);
}

template <class T, Space S>
void SystemState<T, S>::gather_to_solver_order(Span<const T, S> user_order, Span<T, S> solver_order) const {
  if (natural()) return copy<T>(ctx, user_order, solver_order);
  gather<T, S>(ctx, user_order, operators->row_order().old_of_new.cspan(), solver_order);
}

template <class T, Space S>
void SystemState<T, S>::gather_to_user_order(Span<const T, S> solver_order, Span<T, S> user_order) const {
  if (natural()) return copy<T>(ctx, solver_order, user_order);
  gather<T, S>(ctx, solver_order, operators->row_order().new_of_old.cspan(), user_order);
}

template <class T, Space S>
void SystemState<T, S>::make_chain() {
  chain.emplace(detail::make_chain(*operators, recycling.used() ? &recycling : nullptr));
}

template <class T, Space S>
void SystemState<T, S>::values_changed() {
  chain->values_changed();
  sequence.values_changed();
  recycling.values_changed();
}

template <class T, Space S>
void SystemState<T, S>::make_vectors() {
  make_chain();
  if (!operators->chosen.untried.empty()) vectors.guess = Array<T, S>(ctx, rows);
  if (natural()) return;
  vectors.b = Array<T, S>(ctx, rows);
  vectors.x = Array<T, S>(ctx, rows);
}

template <class T, Space S>
void SystemState<T, S>::refresh(Span<const T, S> values, RefreshScope scope) {
  values_changed();
  last_resort.values_changed();
  equivalent.values_changed(scope);
  if (scope != RefreshScope::operator_only) history.count_refresh();
  const LinearOperator<T, S>* const applied = operators->applied_preconditioner();
  try {
    operators->refresh(values, scope);
  } catch (const InputError&) {
    std::vector<Untried> none;
    if (!operators->matrix_sound ||
        !SystemMoves<T, S>(*this).take_next_preconditioner(", which does not support the new values", none))
      throw;
  }
  if (operators->applied_preconditioner() != applied) use_operators();
}

template <class T, Space S>
void SystemState<T, S>::slots_written(RefreshScope scope) {
  values_changed();
  last_resort.values_changed();
  equivalent.values_changed(scope);
  const LinearOperator<T, S>* const applied = operators->applied_preconditioner();
  operators->slots_written(scope);
  if (operators->applied_preconditioner() != applied) use_operators();
}

template <class T, Space S>
void SystemState<T, S>::require_sound() const {
  if (operators->sound()) return;
  throw InputError("the last refresh failed; refresh with values that the preconditioner accepts");
}

template <class T, Space S>
double SystemState<T, S>::seconds_of_solve() {
  const double spent = std::exchange(setup.before_first_solve, 0);
  return stop.time_limit_seconds > 0 ? limits_left(stop, 0, spent).time_limit_seconds : 0;
}

template <class T, Space S>
StopCriterion SystemState<T, S>::stop_now() const {
  StopCriterion now = stop;
  if (setup.ended != WorkEnd::none) now.max_iterations = 0;
  if (!(stop.time_limit_seconds > 0)) return now;
  const double gone = stop.time_limit_seconds - work_limit(ctx).seconds_left();
  return gone > 0 ? limits_left(now, 0, gone) : now;
}

template <class T, Space S>
void write_reasons(const SystemState<T, S>& s, SolveReport& report) {
  const std::string& name = s.operators->options.precond.name;
  write_reasons(report, name == "none" ? "" : name);
}

template <class T, Space S>
std::vector<SystemCandidate> candidates(const SystemState<T, S>& s) {
  if (s.equivalent.answers()) return s.equivalent.made().inner().history().candidates();
  if (!s.operators->source) return {};
  Forecasts& forecasts = s.alternatives->forecasts();
  const double guess = simple_iterations_for(forecasts.present_iterations(), forecasts.expected_iterations());
  return SystemEstimates<T, S>(*s.operators)
      .candidates(s.history.simple_iterations > 0 ? s.history.simple_iterations : guess);
}

#define X(T, S)                                                        \
  template struct SystemState<T, S>;                                   \
  template void write_reasons(const SystemState<T, S>&, SolveReport&); \
  template std::vector<SystemCandidate> candidates(const SystemState<T, S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
