// SPDX-License-Identifier: Apache-2.0
// How a system moves to another format or preconditioner, between solves and in the middle of one.
#include "solver/system/system_moves.hpp"

#include <algorithm>
#include <utility>

#include "core/text/number_text.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/operators/host_measurement.hpp"
#include "solver/policy/whole_solves.hpp"

namespace newel::detail {

namespace {

// What estimates said of a preconditioner that was followed, they would now say of this host.
template <class T, Space S>
void measure(SystemState<T, S>& s) {
  s.history.whole.weaker_seconds *= measure_host(*s.operators);
}

// From the caller's numbering, in which alone formats are left.
template <class T, Space S>
void renumber_sequence(SystemState<T, S>& s) {
  for (const Span<T, S> vector : s.sequence.vectors()) {
    s.gather_to_solver_order(vector, s.vectors.x);
    copy<T>(s.ctx, s.vectors.x.cspan(), vector);
  }
}

// Of an iteration with the present preconditioner and format, where there is a stronger preconditioner; else 0.
template <class T, Space S>
double seconds_of_step(SystemState<T, S>& s) {
  const PrecondOutlooks* const outlooks =
      s.alternatives->forecasts().stronger_preconditioners(s.advisor.standing().iterations);
  return outlooks != nullptr ? outlooks->present.now_seconds : 0;
}

// Those that the system has now, which may have come with another solver.
template <class T, Space S>
void use_operators(SystemState<T, S>& s, const std::string& former_solver) {
  s.operators->first_method().name == former_solver ? s.use_operators() : s.make_chain();
}

}  // namespace

template <class T, Space S>
std::optional<Move> SystemMoves<T, S>::advised(std::optional<Move> move) {
  while (move) {
    if (is_worth_measuring(*s_.operators, *move)) {
      measure(s_);
    } else if (move->kind == Move::Kind::inspect_values) {
      s_.alternatives->inspect_values();
    } else {
      break;
    }
    move = s_.advisor.choose(s_.history, s_.alternatives->forecasts());
  }
  if (s_.advisor.simple_seen() > 0) s_.history.simple_iterations = s_.advisor.simple_seen();
  return move;
}

template <class T, Space S>
std::optional<Move> SystemMoves<T, S>::next(const SolveStanding& now) {
  if (now.iterations >= measurement_due(*s_.operators, s_.history)) measure(s_);
  return advised(s_.advisor.next(now, s_.history, s_.alternatives->forecasts()));
}

template <class T, Space S>
bool SystemMoves<T, S>::before_solve(bool from_zero, bool preconditioner_too) {
  if (s_.equivalent.answers()) return preconditioner_too && s_.equivalent.made().inner().history().improve();
  if (!s_.operators->sound()) return false;
  if (measurement_due(*s_.operators, s_.history) == 0) measure(s_);
  const double format_iterations = s_.history.format.iterations;
  const bool first = !(format_iterations > 0) && s_.history.last_iterations == 0;
  const Advisor::Beginning solve{tolerance_for_estimates(s_.stop.rel_tol),
                                 static_cast<double>(s_.stop.max_iterations), from_zero};
  const auto move =
      advised(s_.advisor.before_solve(solve, preconditioner_too, s_.history, s_.alternatives->forecasts()));
  if (!move) return false;
  if (move->kind == Move::Kind::format) {
    const std::string before = s_.operators->chosen.format.format;
    if (!take_format(move->to, false)) return false;
    s_.changes.note("format " + move->to + " for " + before + " after " + plain_number(format_iterations) +
                    " iterations");
    return true;
  }
  return begin_with_stronger(
      *move,
      first ? " at the beginning, with about " + plain_number(s_.advisor.standing().left, 2) + " iterations to go"
            : " after " + plain_number(s_.history.preconditioner.iterations) + " iterations");
}

// M that a solve begins with. `when` ends the note.
template <class T, Space S>
bool SystemMoves<T, S>::begin_with_stronger(const Move& move, const std::string& when) {
  const std::string before = s_.operators->options.precond.name;
  const std::string solver = s_.operators->first_method().name;
  if (!take_stronger(move, true)) return false;
  s_.changes.preconditioner = false;
  s_.advisor.probation().begin_with_the_solve();
  const bool other_solver = s_.operators->first_method().name != solver;
  // A pinned solve moves nothing, and one with another solver would move on to preconditioners of the former one.
  if (s_.pinned || other_solver) {
    s_.advisor.probation() = {};
    s_.alternatives->settle();
  }
  const std::string& after = s_.operators->options.precond.name;
  const std::string& method = s_.operators->first_method().name;
  s_.changes.note(after == before ? "solver " + method + " for " + solver + when
                                  : "preconditioner " + after + " for " + before + when);
  return true;
}

template <class T, Space S>
bool SystemMoves<T, S>::take_stronger(const Move& move, bool begins) {
  const std::string solver = s_.operators->first_method().name;
  if (!s_.alternatives->take_stronger(move.to, begins)) return false;
  use_operators(s_, solver);
  s_.advisor.took_stronger(move, s_.history);
  s_.changes.preconditioner = true;
  return true;
}

template <class T, Space S>
void SystemMoves<T, S>::precond_changed() {
  s_.changes.preconditioner = true;
  s_.advisor.took_other_preconditioner(s_.history);
}

template <class T, Space S>
void SystemMoves<T, S>::leave_what_proved_slower() {
  if (!proved_slower(s_.history) || !s_.operators->sound()) return;
  const std::string before = s_.operators->options.precond.name;
  const std::string solver = s_.operators->first_method().name;
  const WholeSolves whole = std::exchange(s_.history.whole, {});
  if (!s_.alternatives->leave_stronger(whole.iterations)) return;
  use_operators(s_, solver);
  // So many again, as far as is known.
  s_.history.last_iterations = whole.estimated ? 0 : static_cast<int>(std::min(whole.weaker_iterations, 1e9));
  s_.history.preconditioner = {};
  s_.changes.note("preconditioner " + s_.operators->options.precond.name + " for " + before + ", since solves with " +
                  before + " took longer");
}

template <class T, Space S>
void SystemMoves<T, S>::pin() {
  if (s_.pinned) return;
  decide_by_expectation();
  s_.pinned = true;
  s_.operators->chosen.untried.clear();
  if (s_.operators->source && !s_.last_resort.answers() && !s_.equivalent.answers()) s_.operators->source->forget();
  s_.vectors.guess = Array<T, S>();
}

template <class T, Space S>
void SystemMoves<T, S>::decide_by_expectation() {
  if (s_.history.format.iterations > 0 || s_.pinned || s_.equivalent.answers() || !s_.operators->sound()) return;
  s_.ctx.make_current();
  const LinearOperator<T, S>* const M = s_.operators->preconditioner();
  const double expected = s_.alternatives->forecasts().expected_iterations();
  if (expected >= measurement_due(*s_.operators, s_.history)) measure(s_);
  s_.alternatives->decide();
  const bool decided = s_.operators->preconditioner() != M;
  if (decided) s_.use_operators();
  const std::string format = s_.alternatives->expected_format();
  const bool moved = !format.empty() && !s_.history.change_failed && take_format(format, false);
  if (decided || moved) s_.chain->prepare();
}

// What fails is not tried again.
template <class T, Space S>
bool SystemMoves<T, S>::take_format(const std::string& format, bool in_a_solve) {
  s_.history.change_failed = true;
  try {
    Array<T, S> b(s_.ctx, s_.rows), x(s_.ctx, s_.rows);
    if (!s_.alternatives->take_format(format)) return false;
    s_.use_operators();
    s_.last_resort.order_changed();
    s_.equivalent.order_changed();
    if (!s_.natural()) {
      s_.vectors.b = std::move(b);
      s_.vectors.x = std::move(x);
      renumber_sequence(s_);
    }
  } catch (const OutOfMemory&) {
    return false;
  } catch (const InputError&) {  // the preconditioner does not support the present values
    return false;
  } catch (const WorkInterrupted&) {
    return false;
  }
  s_.history.change_failed = false;
  s_.advisor.took_format(s_.history, in_a_solve);
  return true;
}

template <class T, Space S>
bool SystemMoves<T, S>::make(const Move& move) {
  const SolveStanding& standing = s_.advisor.standing();
  const std::string after = " after " + plain_number(standing.iterations) + " iterations, ";
  const std::string to_go = "with about " + plain_number(standing.left, 2) + " to go";
  const std::string before = s_.operators->options.precond.name;
  const auto note = [&](const std::string& how) {
    s_.changes.note("preconditioner " + s_.operators->options.precond.name + " for " + before + after + how);
  };
  switch (move.kind) {
    case Move::Kind::format: {
      const std::string format = s_.operators->chosen.format.format;
      const double step = seconds_of_step(s_);
      if (!take_format(move.to, true)) return false;
      if (const double present = seconds_of_step(s_); step > 0 && present > 0) {
        s_.advisor.lost_in_former_format(step - present);
      }
      s_.changes.note("format " + move.to + " for " + format + after + to_go);
      return true;
    }
    case Move::Kind::stronger_preconditioner:
      if (!take_stronger(move, false)) return false;
      note(to_go);
      return true;
    case Move::Kind::weaker_preconditioner:
      s_.alternatives->restore();
      s_.use_operators();
      s_.advisor.probation() = {};
      precond_changed();
      note("since " + before + " gained less");
      return true;
    case Move::Kind::inspect_values:
      break;
  }
  return false;
}

template <class T, Space S>
bool SystemMoves<T, S>::take_next_preconditioner(const std::string& why, std::vector<Untried>& untried) {
  const std::string before = s_.operators->options.precond.name;
  if (s_.operators->chosen.untried.empty() || !s_.alternatives->take_next(untried)) return false;
  s_.make_chain();
  precond_changed();
  s_.changes.note("preconditioner " + s_.operators->options.precond.name + " for " + before + why);
  return true;
}

template <class T, Space S>
bool SystemMoves<T, S>::raise_precision() {
  if (!s_.alternatives->raise_precision()) return false;
  s_.make_chain();
  precond_changed();
  s_.changes.note("preconditioner " + s_.operators->options.precond.name +
                  " in double precision, since it failed in single");
  return true;
}

template <class T, Space S>
void SystemMoves<T, S>::end_probation(bool converged) {
  const Probation& probation = s_.advisor.probation();
  if (probation.on() && !probation.passed() && !converged) {
    const std::string before = s_.operators->options.precond.name;
    s_.alternatives->restore();
    s_.use_operators();
    precond_changed();
    s_.changes.note("preconditioner " + s_.operators->options.precond.name + " for " + before +
                    " at the end of the solve");
  }
  s_.advisor.probation() = {};
}

#define X(T, S) template class SystemMoves<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
