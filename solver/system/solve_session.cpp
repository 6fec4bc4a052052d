// SPDX-License-Identifier: Apache-2.0
// A solve, from the guess to the report.
#include "solver/system/solve_session.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/monitor/solve_limits.hpp"
#include "solver/policy/whole_solves.hpp"

namespace newel::detail {
namespace {

// Says of a solve that a limit ended a setup, unless it had converged before.
void end_as(SolveReport& report, WorkEnd why) {
  if (report.converged()) return;
  const bool caller = why == WorkEnd::caller;
  report.status = caller ? Status::stopped_by_caller : Status::time_limit;
  report.failure = {caller ? Cause::stopped_by_caller : Cause::time_limit};
  if (report.attempts.empty()) return;
  report.attempts.back().status = report.status;
  report.attempts.back().failure = report.failure;
}

// From zero after a failure, else from x. The better x of both is kept: after a solve that has converged, that of a
// scaled one that has converged too.
template <class T, Space S>
void try_scaled(SystemState<T, S>& s, Span<const T, S> b, Span<T, S> x, SolveReport& report,
                const ProgressFn& progress) {
  if (s.setup.ended != WorkEnd::none || !s.equivalent.may_help(*s.operators, report)) return;
  const StopCriterion left = limits_left(s.stop_now(), report.iterations, 0);
  if (left.max_iterations == 0 || !(work_limit(s.ctx).seconds_left() > 0)) return;
  const Array<T, S> before = make_array(s.ctx, Span<const T, S>(x));
  const bool failed = !report.converged();
  if (failed) fill<T, S>(s.ctx, T(0), x);
  const InitialGuess from = failed ? InitialGuess::zero : InitialGuess::in_x;
  SolveReport unsaid;  // what a solve that has converged needs no remark on
  std::optional<SolveReport> scaled =
      s.equivalent.solve(*s.operators, b, x, left, progress, from, failed ? report : unsaid);
  const bool closer = failed && scaled && scaled->true_residual < report.true_residual;
  const bool better = closer || (scaled && scaled->converged());
  if (!better) copy<T>(s.ctx, before.cspan(), x);
  if (better || (scaled && failed)) {
    if (!better) take_residual(*scaled, report);
    append_attempt(report, std::move(*scaled));
    s.shared.last_converged = report.converged();
  }
  write_reasons(s, report);
}

}  // namespace

template <class T, Space S>
SolveSession<T, S>::SolveSession(SystemState<T, S>& of, bool may_move) : s_(of), moves_(of), exchange_(of, at_) {
  at_.may_move = may_move && !of.pinned && of.setup.ended == WorkEnd::none;
}

template <class T, Space S>
SolveSession<T, S>::~SolveSession() {
  s_.changes.preconditioner = false;
  s_.advisor.end_solve();
  s_.alternatives->settle();
}

template <class T, Space S>
SolveReport SolveSession<T, S>::run(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress, InitialGuess from) {
  s_.require_sound();
  const SolveLimits<S> limits(s_.ctx, s_.seconds_of_solve(), progress);
  from = s_.sequence.begin(sequence_system(s_), b, x, 1, from);
  guess_is_zero_ = from == InitialGuess::zero;
  if (guess_is_zero_) fill<T, S>(s_.ctx, T(0), x);
  if (s_.vectors.guess.size() > 0 && !guess_is_zero_) copy<T>(s_.ctx, Span<const T, S>(x), s_.vectors.guess.span());
  at_.b = b;
  at_.x = x;
  std::optional<SolveReport> first = by_what_answers(limits.progress(), from);
  SolveReport report;
  iterations_before_ = first ? first->iterations : 0;
  if (first && is_final(*first)) {
    report = std::move(*first);
    if (s_.setup.ended != WorkEnd::none) end_as(report, s_.setup.ended);
    s_.shared.last_converged = report.converged();
  } else {
    report = by_others(limits.progress(), from);
    if (first) {
      append_attempt(*first, std::move(report));
      report = std::move(*first);
      write_reasons(s_, report);
    }
  }
  s_.sequence.end(sequence_system(s_), at_.x, {&report});
  s_.ctx.synchronize();  // x may be read from any stream
  if (!s_.changes.text.empty()) report.changed = std::exchange(s_.changes.text, {});
  return report;
}

// Of what the solve began with: whether its x is returned.
template <class T, Space S>
bool SolveSession<T, S>::is_final(const SolveReport& first) const {
  const bool ended = first.status == Status::stopped_by_caller || first.status == Status::time_limit;
  const bool at_limit = first.iterations > 0 && first.iterations >= s_.stop.max_iterations;
  return first.converged() || ended || at_limit || is_unsolvable(first) || s_.equivalent.alone();
}

// By what has solved the system before, or was planned for it. `from` becomes where the others begin if it fails.
template <class T, Space S>
std::optional<SolveReport> SolveSession<T, S>::by_what_answers(const ProgressFn& progress, InitialGuess& from) {
  SolveReport nothing;
  if (s_.equivalent.answers()) {
    Array<T, S> guess;
    if (!guess_is_zero_ && !s_.equivalent.alone()) guess = make_array(s_.ctx, Span<const T, S>(at_.x));
    std::optional<SolveReport> first =
        s_.equivalent.solve(*s_.operators, at_.b, at_.x, s_.stop_now(), progress, from, nothing);
    if (s_.equivalent.alone() || (first && is_final(*first))) return first;
    if (guess_is_zero_) fill<T, S>(s_.ctx, T(0), at_.x);
    if (!guess_is_zero_) copy<T>(s_.ctx, guess.cspan(), at_.x);
    if (!first) return first;
    // What was to be scaled is rarely solved by others as it is.
    const bool own_limit = first->status == Status::max_iterations && first->iterations < s_.stop.max_iterations;
    if (!own_limit && !worth_last_resort(*first, s_.rows)) return first;
    at_.factors_failed = !by_last_resort(*first, progress);
    from = InitialGuess::in_x;
    return first;
  }
  if (!s_.last_resort.answers()) return {};
  std::optional<SolveReport> first =
      s_.last_resort.solve(*s_.operators, at_.b, at_.x, s_.stop_now(), progress, nothing);
  at_.factors_follow = !first;
  if (first) from = InitialGuess::in_x;
  return first;
}

// By the solvers that "auto" ranks, or the one that was named, with every preconditioner; then by the last resort. If
// it comes first, and fails, the others go on: a Krylov method may solve a singular system that factors cannot.
template <class T, Space S>
SolveReport SolveSession<T, S>::by_others(const ProgressFn& progress, InitialGuess from) {
  SolveReport report = s_.chain->solve(at_.b, at_.x, left_after({}), progress, from, &exchange_);
  if (s_.setup.ended != WorkEnd::none) end_as(report, s_.setup.ended);
  at_.may_move = false;
  write_reasons(s_, report);  // while the preconditioner of the last attempt is there
  if (s_.setup.single_by_choice && report.attempts.size() > 1) {  // and would fail again
    s_.chain->drop_first();
    s_.setup.single_by_choice = false;
    s_.setup.why_double = "in double: single precision did not suffice";
  }
  moves_.end_probation(report.converged());
  if (by_factors_instead(report, progress)) {
    s_.history.count(report.iterations);
    keep_decision(s_, false);
    return report;
  }
  if (!s_.pinned) try_other_preconditioners(report, progress);
  learn(report);
  if (at_.factors_follow) try_last_resort(report, progress);
  try_scaled<T, S>(s_, at_.b, at_.x, report, progress);
  return report;
}

// After an attempt that ended for factors: whether they solve the system, or as well as rounding lets any x do and
// far from the tolerance. Otherwise it goes on, and may end for other factors. Of a structurally singular matrix they
// come as soon as a solver has failed, and may show that no x solves the system.
template <class T, Space S>
bool SolveSession<T, S>::by_factors_instead(SolveReport& report, const ProgressFn& progress) {
  constexpr double far = 4;  // another x may have a residual that is lower by so much
  bool at_once = worth_another_solver(report) && exchange_.others_come_later();
  while (at_once || report.failure.cause == Cause::slower_than_factors) {
    at_.factors_failed = at_.factors_failed || std::exchange(at_once, false);
    try_last_resort(report, progress);
    if (report.converged() || is_unsolvable(report)) return true;
    if (ended_by_rounding(report) && report.true_residual > far * report.tolerance) return true;
    if (!report.attempts.back().failure.untried.empty()) exchange_.other_factors_were_refused();
    go_on(report, progress);
  }
  return false;
}

// From x, by the solvers that ended before.
template <class T, Space S>
void SolveSession<T, S>::go_on(SolveReport& report, const ProgressFn& progress) {
  SolveReport next = s_.chain->solve(at_.b, at_.x, left_after(report), progress, InitialGuess::in_x, &exchange_);
  write_reasons(s_, next);
  append_attempt(report, std::move(next));
  settle_attainable(report);
}

// From the best x, which it keeps if it does not come closer.
template <class T, Space S>
void SolveSession<T, S>::try_last_resort(SolveReport& report, const ProgressFn& progress) {
  if (s_.setup.ended == WorkEnd::none && worth_last_resort(report, s_.rows)) by_last_resort(report, progress);
}

// Whether that solves the system.
template <class T, Space S>
bool SolveSession<T, S>::by_last_resort(SolveReport& report, const ProgressFn& progress) {
  std::optional<SolveReport> last =
      s_.last_resort.solve(*s_.operators, at_.b, at_.x, left_after(report), progress, report);
  if (last) {
    append_attempt(report, std::move(*last));
    settle_attainable(report);
    s_.shared.last_converged = report.converged();
  }
  write_reasons(s_, report);
  return report.converged();
}

template <class T, Space S>
void SolveSession<T, S>::learn(const SolveReport& report) {
  Forecasts& forecasts = s_.alternatives->forecasts();
  s_.history.count(report.iterations);
  if (!s_.changes.preconditioner) {
    compare_with_weaker(report.converged() ? report.iterations : -1, s_.history, forecasts);
    s_.history.solved(report.converged(), report.iterations, forecasts.present_iterations());
  }
  s_.shared.last_converged = report.converged();
  keep_decision(s_, false);
}

// Under "auto" the next pair of solvers and preconditioner continues from the best x, or begins again where that is
// hardly better than the guess: an x that a bad preconditioner has blown up may be far from any solution.
template <class T, Space S>
void SolveSession<T, S>::try_other_preconditioners(SolveReport& report, const ProgressFn& progress) {
  constexpr double some_progress = 1e-2;
  Array<T, S> best;
  std::vector<Untried> untried;
  while (worth_another_preconditioner(report) && left_after(report).max_iterations > 0) {
    if (!(work_limit(s_.ctx).seconds_left() > 0)) return;
    const bool keeps_guess = s_.vectors.guess.size() > 0;
    if (!moves_.raise_precision() && !(keeps_guess && moves_.take_next_preconditioner(", which failed", untried))) {
      if (const WorkEnd end = work_limit(s_.ctx).ended(); end != WorkEnd::none) end_as(report, end);
      for (Untried& one : untried) report.failure.untried.push_back(std::move(one));
      return write_reasons(s_, report);
    }
    if (best.size() == 0) best = Array<T, S>(s_.ctx, s_.rows);
    copy<T>(s_.ctx, Span<const T, S>(at_.x), best.span());
    const InitialGuess from = begin_again(!(report.true_residual < some_progress * report.initial_residual));
    SolveReport next = s_.chain->solve(at_.b, at_.x, left_after(report), progress, from, &exchange_);
    write_reasons(s_, next);
    if (!next.converged() && !(next.true_residual <= report.true_residual)) {
      copy<T>(s_.ctx, best.cspan(), at_.x);
      take_residual(next, report);
    }
    append_attempt(report, std::move(next));
    settle_attainable(report);
    by_factors_instead(report, progress);
  }
}

// Where the next attempt begins: at x, or at the guess in its place.
template <class T, Space S>
InitialGuess SolveSession<T, S>::begin_again(bool from_guess) {
  if (!from_guess) return InitialGuess::in_x;
  if (guess_is_zero_) {
    fill<T, S>(s_.ctx, T(0), at_.x);
    return InitialGuess::zero;
  }
  if (s_.vectors.guess.size() > 0) copy<T>(s_.ctx, s_.vectors.guess.cspan(), at_.x);
  return InitialGuess::in_x;
}

template <class T, Space S>
SolveReport solve(SystemState<T, S>& s, Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                  InitialGuess from) {
  const SolveLimits<S> limits(s.ctx, s.seconds_of_solve(), progress);
  if (!s.pinned && s.setup.ended == WorkEnd::none) {
    SystemMoves<T, S> moves(s);
    moves.leave_what_proved_slower();
    moves.before_solve(from == InitialGuess::zero, true);
  }
  SolveSession<T, S> session(s, true);
  SolveReport report;
  if (s.natural()) {
    report = session.run(b, x, limits.progress(), from);
  } else {
    s.gather_to_solver_order(b, s.vectors.b);
    if (from == InitialGuess::in_x) s.gather_to_solver_order(x, s.vectors.x);
    report = session.run(s.vectors.b, s.vectors.x, limits.progress(), from);
  }
  if (!s.natural()) {
    s.gather_to_user_order(s.vectors.x, x);
    s.ctx.synchronize();
  }
  return report;
}

namespace {

// Column after column, those that others have failed at.
template <class T, Space S>
void columns_by_last_resort(SystemState<T, S>& s, Span<const T, S> b, Span<T, S> x, Index columns,
                            const ProgressFn& progress, std::vector<SolveReport>& reports) {
  ColumnProgress shared(progress, columns);
  for (Index c = 0; c < columns; ++c) {
    const Span<const T, S> b_c = b.subspan(std::int64_t{c} * s.rows, s.rows);
    const Span<T, S> x_c = x.subspan(std::int64_t{c} * s.rows, s.rows);
    SolveReport& report = reports[static_cast<std::size_t>(c)];
    if (worth_last_resort(report, s.rows)) {
      const StopCriterion left = limits_left(s.stop_now(), report.iterations, 0);
      if (auto found = s.last_resort.solve(*s.operators, b_c, x_c, left, shared.of(c), report)) {
        append_attempt(report, std::move(*found));
        settle_attainable(report);
      }
    }
    try_scaled<T, S>(s, b_c, x_c, report, shared.of(c));
  }
}

// Those that factors have failed at.
template <class T, Space S>
void columns_by_others(SystemState<T, S>& s, Span<const T, S> b, Span<T, S> x, Index columns,
                       const ProgressFn& progress, std::vector<SolveReport>& reports) {
  ColumnProgress shared(progress, columns);
  for (Index c = 0; c < columns; ++c) {
    SolveReport& report = reports[static_cast<std::size_t>(c)];
    if (report.converged()) continue;
    const StopCriterion left = limits_left(s.stop_now(), report.iterations, 0);
    append_attempt(report, s.chain->solve(b.subspan(std::int64_t{c} * s.rows, s.rows),
                                          x.subspan(std::int64_t{c} * s.rows, s.rows), left, shared.of(c)));
  }
}

}  // namespace

template <class T, Space S>
std::vector<SolveReport> solve_columns_ordered(SystemState<T, S>& s, Span<const T, S> b, Span<T, S> x, Index columns,
                                               const ProgressFn& progress, InitialGuess from) {
  s.require_sound();
  const SolveLimits<S> limits(s.ctx, s.seconds_of_solve(), progress);
  from = s.sequence.begin(sequence_system(s), b, x, columns, from);
  if (from == InitialGuess::zero) fill<T, S>(s.ctx, T(0), x);
  std::vector<SolveReport> reports;
  if (s.equivalent.answers()) {
    reports = s.equivalent.solve_columns(*s.operators, b, x, columns, s.stop_now(), limits.progress(), from);
  }
  const bool by_factors = reports.empty() && s.last_resort.answers();
  if (by_factors) {
    reports = s.last_resort.solve_columns(*s.operators, b, x, columns, s.stop_now(), limits.progress(), from);
    if (!reports.empty()) columns_by_others<T, S>(s, b, x, columns, limits.progress(), reports);
  }
  const bool factors_are_new = !by_factors || reports.empty();
  if (reports.empty()) reports = s.chain->solve_columns(b, x, columns, s.stop_now(), limits.progress(), from);
  if (factors_are_new && !s.equivalent.alone()) {
    columns_by_last_resort<T, S>(s, b, x, columns, limits.progress(), reports);
  }
  s.ctx.synchronize();
  for (SolveReport& report : reports) {
    if (s.setup.ended != WorkEnd::none) end_as(report, s.setup.ended);
    write_reasons(s, report);
    s.history.count(report.iterations);
    s.shared.last_converged = report.converged();
  }
  std::vector<SolveReport*> all;
  for (SolveReport& report : reports) all.push_back(&report);
  s.sequence.end(sequence_system(s), x, std::move(all));
  keep_decision(s, false);
  if (!reports.empty() && !s.changes.text.empty()) reports.front().changed = std::move(s.changes.text);
  s.changes.text.clear();
  return reports;
}

#define X(T, S)                                                                                                    \
  template class SolveSession<T, S>;                                                                               \
  template SolveReport solve(SystemState<T, S>&, Span<const T, S>, Span<T, S>, const ProgressFn&, InitialGuess);   \
  template std::vector<SolveReport> solve_columns_ordered(SystemState<T, S>&, Span<const T, S>, Span<T, S>, Index, \
                                                          const ProgressFn&, InitialGuess);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
