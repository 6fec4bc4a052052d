// SPDX-License-Identifier: Apache-2.0
// Solves, and the exchange of format and preconditioner between and during them.
#include "solver/system/system_state.hpp"

#include <algorithm>

#include "core/vectors/instantiate.hpp"
#include "core/text/number_text.hpp"
#include "solver/krylov/monitor/limits_left.hpp"

namespace newel::detail {

template <class T, Space S>
SolveReport SystemState<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                     InitialGuess from) {
  const SolveLimits<S> limits(ctx, seconds_of_solve(), progress);
  if (!pinned && setup_ended == WorkEnd::none) {
    leave_what_proved_slower();
    improve(from == InitialGuess::zero, true);
  }
  return solve_from(b, x, limits.progress(), from);
}

template <class T, Space S>
SolveReport SystemState<T, S>::solve_from(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                          InitialGuess from) {
  SolveReport report;
  if (natural()) {
    report = solve_ordered(b, x, progress, from, true);
  } else {
    gather_to_solver_order(b, ordered_b);
    if (from == InitialGuess::in_x) gather_to_solver_order(x, ordered_x);
    report = solve_ordered(ordered_b, ordered_x, progress, from, true);
  }
  if (!natural()) {
    gather_to_user_order(ordered_x, x);
    ctx.synchronize();
  }
  return report;
}

// What holds for one solve only, whichever way it ends.
template <class T, Space S>
struct SystemState<T, S>::OfOneSolve {
  explicit OfOneSolve(SystemState& of) : state(of) {}
  ~OfOneSolve() {
    state.may_move = state.exchanged = state.exchanged_precond = false;
    state.advisor.end_solve();
    state.operators->settle_preconditioner();
  }
  OfOneSolve(const OfOneSolve&) = delete;
  OfOneSolve& operator=(const OfOneSolve&) = delete;
  SystemState& state;
};

// A preconditioner that had not proved itself when the solve gave up leaves again.
template <class T, Space S>
void SystemState<T, S>::end_probation(bool converged) {
  if (advisor.probation().on() && !advisor.probation().passed() && !converged) {
    const std::string before = operators->preconditioner_name();
    operators->restore_preconditioner();
    chain->use(operators->matrix(), operators->applied_preconditioner());
    note_other_preconditioner();
    note_change("preconditioner " + operators->preconditioner_name() + " for " + before + " at the end of the solve");
  }
  advisor.probation() = {};
}

template <class T, Space S>
SolveReport SystemState<T, S>::solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                             InitialGuess from, bool move) {
  require_sound();
  const SolveLimits<S> limits(ctx, seconds_of_solve(), progress);
  guess_is_zero = from == InitialGuess::zero;
  if (guess_is_zero) fill<T, S>(ctx, T(0), x);
  if (guess.size() > 0 && !guess_is_zero) copy<T>(ctx, Span<const T, S>(x), guess.span());
  present_b = b;
  present_x = x;
  const OfOneSolve until_return(*this);
  may_move = move && !pinned && setup_ended == WorkEnd::none;
  SolveReport report = chain->solve(b, x, stop_now(), limits.progress(), from);
  if (setup_ended != WorkEnd::none) end_as(report, setup_ended);
  may_move = false;
  write_reasons(report);  // while the preconditioner of the last attempt is there
  if (single_by_choice && report.attempts.size() > 1) {  // and would fail again
    chain->drop_first();
    single_by_choice = false;
    why_double = "in double: single precision did not suffice";
  }
  end_probation(report.converged());
  if (!pinned) try_other_preconditioners(report, present_b, present_x, limits.progress());
  ctx.synchronize();  // x may be read from any stream
  history.count(report.iterations);
  if (!exchanged_precond) {
    Advisor::compare_with_weaker(report.converged() ? report.iterations : -1, history, *operators);
    history.solved(report.converged(), report.iterations, operators->present_iterations());
  }
  last_converged = report.converged();
  keep_decision(false);
  report.changed = std::move(changed);
  changed.clear();
  return report;
}

template <class T, Space S>
void SystemState<T, S>::pin() {
  if (pinned) return;
  decide_by_expectation();
  pinned = true;
  operators->keep_preconditioner();
  guess = Array<T, S>();
}

template <class T, Space S>
void SystemState<T, S>::decide_by_expectation() {
  if (history.format.iterations() > 0 || pinned || !operators->sound()) return;
  ctx.make_current();
  const LinearOperator<T, S>* const M = operators->preconditioner();
  operators->decide_preconditioner();
  const bool decided = operators->preconditioner() != M;
  if (decided) chain->use(operators->matrix(), operators->applied_preconditioner());
  const std::string format = operators->expected_format();
  const bool moved = !format.empty() && !history.change_failed && move_to(format);
  if (decided || moved) chain->prepare();
}

// Under "auto" the next pair of solvers and preconditioner continues from the best x, or begins again where that is
// hardly better than the guess: an x that a bad preconditioner has blown up may be far from any solution.
template <class T, Space S>
void SystemState<T, S>::try_other_preconditioners(SolveReport& report, Span<const T, S> b, Span<T, S> x,
                                                  const ProgressFn& progress) {
  constexpr double some_progress = 1e-2;
  Array<T, S> best;
  while (worth_another_preconditioner(report) && report.iterations < stop.max_iterations) {
    if (!(work_limit(ctx).seconds_left() > 0)) return;
    if (!raise_precision() && (guess.size() == 0 || !exchange_preconditioner(", which failed"))) {
      if (const WorkEnd end = work_limit(ctx).ended(); end != WorkEnd::none) end_as(report, end);
      for (Untried& untried : operators->take_untried()) report.failure.untried.push_back(std::move(untried));
      return write_reasons(report);
    }
    const StopCriterion left = limits_left(stop_now(), report.iterations, 0);
    if (best.size() == 0) best = Array<T, S>(ctx, rows);
    copy<T>(ctx, Span<const T, S>(x), best.span());
    const bool again = !(report.true_residual < some_progress * report.initial_residual);
    if (again && guess_is_zero) fill<T, S>(ctx, T(0), x);
    if (again && !guess_is_zero && guess.size() > 0) copy<T>(ctx, guess.cspan(), x);
    const InitialGuess from = again && guess_is_zero ? InitialGuess::zero : InitialGuess::in_x;
    SolveReport next = chain->solve(b, x, left, progress, from);
    write_reasons(next);
    if (!next.converged() && !(next.true_residual <= report.true_residual)) {
      copy<T>(ctx, best.cspan(), x);
      take_residual(next, report);
    }
    append_attempt(report, std::move(next));
    settle_attainable(report);
  }
}

// The operators in that format take the place of the present ones. False, and not tried again, where they cannot be
// made; all is then as it was.
template <class T, Space S>
bool SystemState<T, S>::move_to(const std::string& format) {
  history.change_failed = true;
  try {
    Array<T, S> b(ctx, rows), x(ctx, rows);
    std::unique_ptr<SystemOperators<T, S>> moved = operators->in_format(format);
    if (moved == nullptr) return false;
    chain->use(moved->matrix(), moved->applied_preconditioner());
    operators = std::move(moved);
    if (!natural()) {
      ordered_b = std::move(b);
      ordered_x = std::move(x);
    }
  } catch (const OutOfMemory&) {
    return false;
  } catch (const InputError&) {  // the preconditioner does not support the present values
    return false;
  } catch (const WorkInterrupted&) {
    return false;
  }
  history.change_failed = false;
  advisor.took_format(history, may_move);
  return true;
}

#define X(T, S) template struct SystemState<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
