// SPDX-License-Identifier: Apache-2.0
// How a system moves to another format or preconditioner, between solves and in the middle of one.
#include "solver/system/system_state.hpp"

#include <algorithm>
#include <utility>

#include "core/text/number_text.hpp"
#include "core/vectors/instantiate.hpp"

namespace newel::detail {

template <class T, Space S>
template <class Ask>
std::optional<Move> SystemState<T, S>::advised(Ask&& ask) {
  std::optional<Move> move = ask();
  while (move && move->kind == Move::Kind::inspect_values) {
    operators->look_at_values();
    move = advisor.after_inspection(history, *operators);
  }
  if (advisor.simple_seen() > 0) history.simple_seen = advisor.simple_seen();
  return move;
}

template <class T, Space S>
bool SystemState<T, S>::due(const SolveStanding& now) {
  constexpr bool asking_is_dear = S == Space::device;
  next.reset();
  if (!may_move) return false;
  next = advised([&] { return advisor.next(now, history, *operators); });
  if (!next) advisor.ask_less_often(asking_is_dear);
  return next.has_value();
}

template <class T, Space S>
int SystemState<T, S>::not_before() {
  constexpr bool asking_is_dear = S == Space::device;
  return may_move ? advisor.not_before(asking_is_dear, history, *operators) : no_exchange;
}

template <class T, Space S>
bool SystemState<T, S>::improve(bool from_zero, bool preconditioner_too) {
  if (!operators->sound()) return false;
  const double format_iterations = history.format.iterations();
  const bool first = !(format_iterations > 0) && history.last_iterations == 0;
  const Advisor::Beginning solve{tolerance_for_estimates(stop.rel_tol), static_cast<double>(stop.max_iterations),
                                 from_zero};
  const auto move = advised([&] { return advisor.before_solve(solve, preconditioner_too, history, *operators); });
  if (!move) return false;
  if (move->kind == Move::Kind::format) {
    const std::string before = operators->format_choice()->format;
    if (!move_to(move->to)) return false;
    note_change("format " + move->to + " for " + before + " after " + plain_number(format_iterations) +
                " iterations");
    return true;
  }
  return begin_with_stronger(
      *move, first ? " at the beginning, with about " + plain_number(advisor.standing().left, 2) + " iterations to go"
                   : " after " + plain_number(history.preconditioner.iterations()) + " iterations");
}

// M that a solve begins with. `when` ends the note.
template <class T, Space S>
bool SystemState<T, S>::begin_with_stronger(const Move& move, const std::string& when) {
  const std::string before = operators->preconditioner_name();
  if (!take_stronger(move)) return false;
  chain->use(operators->matrix(), operators->applied_preconditioner());
  exchanged_precond = false;
  advisor.probation().begin_with_the_solve();
  if (pinned) {  // and a solve moves nothing
    advisor.probation() = {};
    operators->settle_preconditioner();
  }
  note_change("preconditioner " + operators->preconditioner_name() + " for " + before + when);
  return true;
}

template <class T, Space S>
bool SystemState<T, S>::take_stronger(const Move& move) {
  if (!operators->take_stronger_preconditioner(move.to)) return false;
  advisor.took_stronger(move, history);
  exchanged_precond = true;
  return true;
}

template <class T, Space S>
void SystemState<T, S>::leave_what_proved_slower() {
  if (!Advisor::proved_slower(history) || !operators->sound()) return;
  const std::string before = operators->preconditioner_name();
  const WholeSolves whole = std::exchange(history.whole, {});
  if (!operators->leave_preconditioner(whole.iterations)) return;
  chain->use(operators->matrix(), operators->applied_preconditioner());
  // So many again, as far as is known.
  history.last_iterations = whole.estimated ? 0 : static_cast<int>(std::min(whole.weaker_iterations, 1e9));
  history.preconditioner.moved();
  note_change("preconditioner " + operators->preconditioner_name() + " for " + before + ", whose solves took longer");
}

// Of an iteration with the present preconditioner and format, where there is a stronger preconditioner; else 0.
template <class T, Space S>
double SystemState<T, S>::seconds_of_step() {
  const PrecondOutlooks* const outlooks = operators->stronger_preconditioners(advisor.standing().iterations);
  return outlooks != nullptr ? outlooks->present.now_seconds : 0;
}

template <class T, Space S>
bool SystemState<T, S>::make_move(const Move& move) {
  const SolveStanding& standing = advisor.standing();
  const std::string after = " after " + plain_number(standing.iterations) + " iterations, ";
  const std::string to_go = "with about " + plain_number(standing.left, 2) + " to go";
  const std::string before = operators->preconditioner_name();
  switch (move.kind) {
    case Move::Kind::format: {
      const std::string format = operators->format_choice()->format;
      const double step = seconds_of_step();
      if (!move_to(move.to)) return false;
      if (const double present = seconds_of_step(); step > 0 && present > 0) {
        advisor.lost_in_former_format(step - present);
      }
      note_change("format " + move.to + " for " + format + after + to_go);
      return true;
    }
    case Move::Kind::stronger_preconditioner:
      if (!take_stronger(move)) return false;
      note_change("preconditioner " + operators->preconditioner_name() + " for " + before + after + to_go);
      break;
    case Move::Kind::weaker_preconditioner:
      operators->restore_preconditioner();
      advisor.probation() = {};
      note_other_preconditioner();
      note_change("preconditioner " + operators->preconditioner_name() + " for " + before + after +
                  "which gained less");
      break;
    case Move::Kind::inspect_values:
      return false;
  }
  chain->use(operators->matrix(), operators->applied_preconditioner());
  return true;
}

// Formats are left in the caller's numbering only.
template <class T, Space S>
std::optional<ExchangedSystem<T, S>> SystemState<T, S>::exchange(const std::vector<Span<T, S>>& vectors) {
  const bool other_format = next->kind == Move::Kind::format;
  Array<T, S> renumbered;
  try {
    if (other_format) renumbered = Array<T, S>(ctx, rows);
  } catch (const OutOfMemory&) {
    history.change_failed = true;
    return std::nullopt;
  }
  if (!make_move(*next)) return std::nullopt;
  if (other_format && !natural()) {
    std::vector<Span<T, S>> all = vectors;
    all.push_back(chain->kept_x());
    all.push_back(guess.span());
    for (const Span<T, S> vector : all) {
      if (vector.size == 0) continue;
      gather_to_solver_order(vector, renumbered);
      copy<T>(ctx, renumbered.cspan(), vector);
    }
    gather_to_solver_order(present_b, ordered_b);
    gather_to_solver_order(present_x, ordered_x);
    present_b = ordered_b;
    present_x = ordered_x;
    exchanged = true;
  }
  ctx.synchronize();
  return ExchangedSystem<T, S>{operators->matrix(), operators->applied_preconditioner(), present_b, present_x,
                               other_format && operators->same_preconditioner()};
}

#define X(T, S)                                                \
  template bool SystemState<T, S>::due(const SolveStanding&);  \
  template int SystemState<T, S>::not_before();                \
  template bool SystemState<T, S>::improve(bool, bool);        \
  template void SystemState<T, S>::leave_what_proved_slower(); \
  template std::optional<ExchangedSystem<T, S>> SystemState<T, S>::exchange(const std::vector<Span<T, S>>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
