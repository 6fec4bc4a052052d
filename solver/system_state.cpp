// SPDX-License-Identifier: Apache-2.0
// Solves, and the exchange of format and preconditioner between and during them.
#include <purlin/solver/system_state.hpp>

#include <algorithm>
#include <chrono>

#include <purlin/core/instantiate.hpp>
#include <purlin/core/number_text.hpp>

namespace purlin::detail {

template <class T, Space S>
SolveReport SystemState<T, S>::solve(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress) {
  improve();
  SolveReport report;
  if (natural()) {
    report = solve_ordered(b, x, progress, true);
  } else {
    gather_to_solver_order(b, ordered_b);
    gather_to_solver_order(x, ordered_x);
    report = solve_ordered(ordered_b, ordered_x, progress, true);
  }
  if (!natural()) gather_to_user_order(ordered_x, x);
  ctx.synchronize();
  return report;
}

template <class T, Space S>
SolveReport SystemState<T, S>::solve_ordered(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                             bool move) {
  require_sound();
  if (guess.size() > 0) copy<T>(ctx, Span<const T, S>(x), guess.span());
  present_b = b;
  present_x = x;
  may_move = move;
  SolveReport report = chain->solve(b, x, stop, progress);
  may_move = false;
  write_reasons(report);
  if (!learning.pinned()) try_other_preconditioners(report, present_b, present_x, progress);
  ctx.synchronize();  // x may be read from any stream
  learning.count(report.iterations);
  report.changed = std::move(changed);
  changed.clear();
  return report;
}

template <class T, Space S>
void SystemState<T, S>::pin() {
  if (!learning.pinned()) take_expected_format();
  learning.pin();
  operators->keep_preconditioner();
  guess = Array<T, S>();
}

template <class T, Space S>
void SystemState<T, S>::take_expected_format() {
  const std::string format = operators->expected_format();
  if (learning.iterations() > 0 || format.empty() || change_failed || !operators->sound()) return;
  ctx.make_current();
  move_to(format);
}

// Under "auto" the next pair of solvers and preconditioner continues from the best x, or begins again where that is
// hardly better than the guess: an x that a bad preconditioner has blown up may be far from any solution.
template <class T, Space S>
void SystemState<T, S>::try_other_preconditioners(SolveReport& report, Span<const T, S> b, Span<T, S> x,
                                                  const ProgressFn& progress) {
  constexpr double some_progress = 1e-2;
  const auto start = std::chrono::steady_clock::now();
  Array<T, S> best;
  while (guess.size() > 0 && worth_another_preconditioner(report) && report.iterations < stop.max_iterations) {
    StopCriterion left = stop;
    left.max_iterations -= report.iterations;
    if (stop.time_limit_seconds > 0) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      left.time_limit_seconds = stop.time_limit_seconds - report.seconds - spent.count();
      if (left.time_limit_seconds <= 0) return;
    }
    if (!exchange_preconditioner(", which failed")) return;
    if (best.size() == 0) best = Array<T, S>(ctx, rows);
    copy<T>(ctx, Span<const T, S>(x), best.span());
    if (!(report.true_residual < some_progress * report.initial_residual)) copy<T>(ctx, guess.cspan(), x);
    SolveReport next = chain->solve(b, x, left, progress);
    write_reasons(next);
    if (!next.converged() && !(next.true_residual <= report.true_residual)) {
      copy<T>(ctx, best.cspan(), x);
      next.true_residual = report.true_residual;
    }
    append_attempt(report, std::move(next));
    settle_attainable(report);
  }
}

template <class T, Space S>
void SystemState<T, S>::improve() {
  const FormatChoice* const choice = operators->format_choice();
  if (choice == nullptr || change_failed || !operators->sound()) return;
  const FormatTrial* const better = learning.better_than(*choice);
  if (better == nullptr) return;
  const std::string what = "format " + better->format + " for " + choice->format + " after " +
                           plain_number(learning.iterations()) + " iterations";
  if (move_to(std::string(better->format))) note_change(what);
}

// The operators in that format take the place of the present ones. False, and not tried again, where they cannot be
// made; all is then as it was.
template <class T, Space S>
bool SystemState<T, S>::move_to(const std::string& format) {
  change_failed = true;
  try {
    Array<T, S> b(ctx, rows), x(ctx, rows);
    std::unique_ptr<SystemOperators<T, S>> moved = operators->in_format(format);
    if (moved == nullptr) return false;
    chain->use(moved->matrix(), moved->preconditioner());
    operators = std::move(moved);
    if (!natural()) {
      ordered_b = std::move(b);
      ordered_x = std::move(x);
    }
  } catch (const OutOfMemory&) {
    return false;
  } catch (const InputError&) {  // the preconditioner does not support the present values
    return false;
  }
  change_failed = false;
  learning.moved();
  return true;
}

template <class T, Space S>
bool SystemState<T, S>::due(int done, double left) {
  const FormatChoice* const choice = may_move && !change_failed ? operators->format_choice() : nullptr;
  if (choice == nullptr) return false;
  if (left == 0) left = std::max(operators->expected_iterations() - done, static_cast<double>(done));
  const FormatTrial* const better = learning.better_for(*choice, done, left);
  if (better == nullptr) return false;
  next_format = better->format;
  next_left = left;
  next_done = done;
  return true;
}

// Formats are left in the caller's numbering only.
template <class T, Space S>
std::optional<ExchangedSystem<T, S>> SystemState<T, S>::exchange(const std::vector<Span<T, S>>& vectors) {
  const std::string what = "format " + next_format + " for " + operators->format_choice()->format + " after " +
                           plain_number(next_done) + " iterations, with about " + plain_number(next_left, 2) +
                           " to go";
  Array<T, S> renumbered;
  try {
    renumbered = Array<T, S>(ctx, rows);
  } catch (const OutOfMemory&) {
    change_failed = true;
    return std::nullopt;
  }
  if (!move_to(next_format)) return std::nullopt;
  note_change(what);
  if (!natural()) {
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
  }
  ctx.synchronize();
  return ExchangedSystem<T, S>{operators->matrix(), operators->preconditioner(), present_b, present_x,
                               operators->same_preconditioner()};
}

#define X(T, S) template struct SystemState<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail
