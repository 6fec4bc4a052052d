// SPDX-License-Identifier: Apache-2.0
// Solves in mixed precision that begin in double, as every solve does under "auto", and go on in single precision
// where that pays.
#include "solver/system/system_state.hpp"

#include <utility>

#include "core/vectors/instantiate.hpp"
#include "core/text/number_text.hpp"
#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/krylov/monitor/own_progress.hpp"

namespace newel::detail {
namespace {

// The report of a part that stopped for the next one to go on, and the next one's, as of one attempt.
void join(SolveReport& whole, SolveReport&& next) {
  const Attempt stopped = whole.attempts.back();
  whole.attempts.pop_back();
  if (!next.attempts.empty()) {
    next.attempts.front().iterations += stopped.iterations;
    next.attempts.front().seconds += stopped.seconds;
  }
  append_attempt(whole, std::move(next));
}

}  // namespace

template <class T, Space S>
const FormatChoice* SystemState<T, S>::formats_to_move_to() {
  const FormatChoice* const choice = change_failed ? nullptr : operators->format_choice();
  if (choice == nullptr || !in_single.allowed) return choice;
  const std::pair<const FormatTrial*, std::string> of{choice->trials.data(), operators->preconditioner_name()};
  if (in_single.formats_of == of) return &in_single.formats;
  in_single.formats_of = of;
  in_single.formats = *choice;
  for (FormatTrial& trial : operators->formats_in_single()) in_single.formats.trials.push_back(std::move(trial));
  return &in_single.formats;
}

// The operators in double stay. False, and not tried again: single precision or the memory does not allow it.
template <class T, Space S>
bool SystemState<T, S>::move_to_single(const std::string& format) {
  in_single.due = false;
  try {
    in_single.operators = operators->in_single(format, true);
    if (in_single.operators != nullptr) {
      in_single.chain.emplace(in_single.operators->make_chain());
      if (!in_single.operators->order().natural()) {
        in_single.b = Array<T, S>(ctx, rows);
        in_single.x = Array<T, S>(ctx, rows);
      }
    }
  } catch (const InputError&) {
    leave_single();
  } catch (const OutOfMemory&) {
    leave_single();
  } catch (const WorkInterrupted&) {
    leave_single();
  }
  if (in_single.operators == nullptr) {
    fail_in_single("in double: single precision does not support the values, or memory is short");
    return false;
  }
  in_single.format = format;
  note_change("single precision, in " + format + ", after " + plain_number(standing.iterations) +
              " iterations, with " + "about " + plain_number(standing.left, 2) + " to go");
  return true;
}

// For good, with what follows in double where single precision does not suffice. False, and all is as it was.
template <class T, Space S>
bool SystemState<T, S>::pin_in_single(const std::string& format) {
  try {
    std::unique_ptr<SystemOperators<T, S>> mixed = operators->in_single(format, false);
    if (mixed == nullptr) return false;
    SolverChain<T, S> of_mixed = mixed->make_chain();
    Array<T, S> b, x;
    if (!mixed->order().natural()) {
      b = Array<T, S>(ctx, rows);
      x = Array<T, S>(ctx, rows);
    }
    chain.emplace(std::move(of_mixed));
    chain->set_exchange(this);
    operators = std::move(mixed);
    ordered_b = std::move(b);
    ordered_x = std::move(x);
  } catch (const InputError&) {
    return false;
  } catch (const OutOfMemory&) {
    return false;
  } catch (const WorkInterrupted&) {
    return false;
  }
  leave_single();
  in_single.allowed = false;
  why_double.clear();
  return true;
}

// A solve in parts: what they report together, what they leave of its iterations and its time, and how many
// iterations in double they stand for.
template <class T, Space S>
struct SystemState<T, S>::PartsOfSolve {
  explicit PartsOfSolve(SystemState& of) : state(of), whole_stop(of.stop), solves(of.solves) {}
  ~PartsOfSolve() { state.stop = whole_stop; }
  PartsOfSolve(const PartsOfSolve&) = delete;
  PartsOfSolve& operator=(const PartsOfSolve&) = delete;

  void add(SolveReport&& part, double times_iterations) {
    in_double += part.iterations / times_iterations;
    std::string changed = std::move(report.changed);
    add_change(changed, part.changed);
    if (report.attempts.empty()) {
      report = std::move(part);
    } else if (stopped) {
      join(report, std::move(part));
    } else {
      append_attempt(report, std::move(part));
      settle_attainable(report);
    }
    stopped = false;
    report.changed = std::move(changed);
    const StopCriterion left = limits_left(whole_stop, report.iterations, report.seconds);
    state.stop.max_iterations = left.max_iterations;
    state.stop.time_limit_seconds = left.time_limit_seconds;
  }

  // As of one solve with the present preconditioner.
  SolveReport end() {
    state.solves = solves + 1;
    state.last_converged = report.converged();
    state.last_iterations = report.converged() ? static_cast<int>(in_double) : 0;
    const ExpectedIterations present = state.operators->present_iterations();
    if (report.converged()) state.simple_seen = simple_iterations_for(present, in_double);
    if (report.converged() && present == &simple_iterations) state.simple_measured = in_double;
    return std::move(report);
  }

  SystemState& state;
  const StopCriterion whole_stop;
  const int solves;  // before it
  SolveReport report;
  bool stopped = false;  // the last part, for the next one
  double in_double = 0;
};

// Where it moves to single precision the solve in double stops, and another one goes on from its x; where single
// precision does not suffice, a third one in double.
template <class T, Space S>
SolveReport SystemState<T, S>::solve_in_either(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                                               InitialGuess from) {
  require_sound();
  PartsOfSolve parts(*this);
  if (in_single.operators == nullptr) {
    if (!solve_until_single(parts, b, x, progress, from)) return std::move(parts.report);
    from = InitialGuess::in_x;
    move_to_single(next_format);
  }
  if (in_single.operators != nullptr && solve_in_single(parts, b, x, progress, from)) return parts.end();
  parts.add(solve_from(b, x, progress, InitialGuess::in_x), 1);
  return parts.end();
}

// The part in double. False: it is the whole solve.
template <class T, Space S>
bool SystemState<T, S>::solve_until_single(PartsOfSolve& parts, Span<const T, S> b, Span<T, S> x,
                                           const ProgressFn& progress, InitialGuess from) {
  in_single.due = false;
  bool stopped = false;
  const auto ask = [&](const Progress& now) {
    if (progress && !progress(now)) return false;
    stopped = in_single.due && now.solver == in_single.method->name;
    return !stopped;
  };
  parts.add(solve_from(b, x, OwnProgress(ask, is_watched(progress)), from), 1);
  parts.stopped = stopped && parts.report.status == Status::stopped_by_caller;
  return parts.stopped;
}

// The part in single precision. False: that does not suffice, and will not be tried again.
template <class T, Space S>
bool SystemState<T, S>::solve_in_single(PartsOfSolve& parts, Span<const T, S> b, Span<T, S> x,
                                        const ProgressFn& progress, InitialGuess from) {
  const RowOrder<S>& order = in_single.operators->order();
  if (from == InitialGuess::zero) fill<T, S>(ctx, T(0), x);
  SolveReport report;
  if (order.natural()) {
    report = in_single.chain->solve(b, x, stop_now(), progress, from);
  } else {
    gather<T, S>(ctx, b, order.old_of_new.cspan(), in_single.b);
    gather<T, S>(ctx, x, order.old_of_new.cspan(), in_single.x);
    report = in_single.chain->solve(in_single.b.cspan(), in_single.x.span(), stop_now(), progress, from);
    gather<T, S>(ctx, in_single.x.cspan(), order.new_of_old.cspan(), x);
  }
  ctx.synchronize();
  write_reasons(report);
  const bool suffices = !worth_another_solver(report);
  count(static_cast<int>(report.iterations / in_single.method->mixed_iterations));
  report.changed = std::exchange(changed, {});
  parts.add(std::move(report), in_single.method->mixed_iterations);
  if (suffices) return true;
  fail_in_single("in double again: single precision did not suffice");
  return false;
}

// With the reasons of what was chosen in double.
template <class T, Space S>
SystemInfo SystemState<T, S>::info() const {
  SystemInfo info = operators->info();
  if (in_single.operators == nullptr) {
    info.precision_reason = why_double;
    return info;
  }
  SystemInfo single = in_single.operators->info();
  single.preconditioner_reason = std::move(info.preconditioner_reason);
  single.solver_reason = std::move(info.solver_reason);
  single.format.trials = std::move(info.format.trials);
  single.format.reason = "followed " + info.format.format + " in double";
  return single;
}

#define X(T, S)                                                                                            \
  template const FormatChoice* SystemState<T, S>::formats_to_move_to();                                    \
  template bool SystemState<T, S>::move_to_single(const std::string&);                                     \
  template bool SystemState<T, S>::pin_in_single(const std::string&);                                      \
  template SystemInfo SystemState<T, S>::info() const;                                                     \
  template SolveReport SystemState<T, S>::solve_in_either(Span<const T, S>, Span<T, S>, const ProgressFn&, \
                                                          InitialGuess);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
