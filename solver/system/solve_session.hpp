// SPDX-License-Identifier: Apache-2.0
/// SolveSession: one solve of a system, from the guess to the report. Internal.
#pragma once

#include <optional>
#include <vector>

#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/system/session_exchange.hpp"
#include "solver/system/system_moves.hpp"

namespace newel::detail {

/// Solves by one method after another until the system is solved. What holds for one solve only is forgotten at its
/// end, whichever way it ends.
template <class T, Space S>
class SolveSession {
 public:
  /// Without `may_move` the operators stay, but for those that follow a failure.
  SolveSession(SystemState<T, S>& of, bool may_move);
  ~SolveSession();
  SolveSession(const SolveSession&) = delete;
  SolveSession& operator=(const SolveSession&) = delete;

  /// Both in solver order. If the system is renumbered on the way, the result is in `SystemVectors::x`.
  SolveReport run(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress, InitialGuess from);

  /// How it moves on its way.
  SessionExchange<T, S>& exchange() { return exchange_; }

 private:
  StopCriterion left_after(const SolveReport& report) const {
    return limits_left(s_.stop_now(), iterations_before_ + report.iterations, 0);
  }
  bool is_final(const SolveReport& first) const;
  std::optional<SolveReport> by_what_answers(const ProgressFn& progress, InitialGuess& from);
  SolveReport by_others(const ProgressFn& progress, InitialGuess from);
  void try_other_preconditioners(SolveReport& report, const ProgressFn& progress);
  void try_last_resort(SolveReport& report, const ProgressFn& progress);
  bool by_last_resort(SolveReport& report, const ProgressFn& progress);
  InitialGuess begin_again(bool from_guess);
  bool by_factors_instead(SolveReport& report, const ProgressFn& progress);
  void go_on(SolveReport& report, const ProgressFn& progress);
  void learn(const SolveReport& report);

  SystemState<T, S>& s_;
  SystemMoves<T, S> moves_;
  SessionPlace<T, S> at_;
  SessionExchange<T, S> exchange_;  // of all attempts
  bool guess_is_zero_ = false;
  int iterations_before_ = 0;  // of what the solve began with
};

/// From the guess in x, both in the caller's numbering. The system may move before the solve, and on its way.
template <class T, Space S>
SolveReport solve(SystemState<T, S>& state, Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                  InitialGuess from = InitialGuess::in_x);

/// Both in solver order, column after column.
template <class T, Space S>
std::vector<SolveReport> solve_columns_ordered(SystemState<T, S>& state, Span<const T, S> b, Span<T, S> x,
                                               Index columns, const ProgressFn& progress, InitialGuess from);

}  // namespace newel::detail
