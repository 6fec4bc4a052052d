// SPDX-License-Identifier: Apache-2.0
/// SolveSession: one solve of a system, in which it may move to other operators. Internal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "solver/krylov/monitor/limits_left.hpp"
#include "solver/system/last_resort_watch.hpp"
#include "solver/system/system_moves.hpp"

namespace newel::detail {

/// Asks the advisor where the solve could move, and carries the vectors over into another order. What holds for one
/// solve only is forgotten at its end, whichever way it ends.
template <class T, Space S>
class SolveSession final : public OperatorExchange<T, S> {
 public:
  /// Without `may_move` the operators stay, but for those that follow a failure.
  SolveSession(SystemState<T, S>& of, bool may_move);
  ~SolveSession() override;
  SolveSession(const SolveSession&) = delete;
  SolveSession& operator=(const SolveSession&) = delete;

  /// Both in solver order. If the system is renumbered on the way, the result is in `SystemVectors::x`.
  SolveReport run(Span<const T, S> b, Span<T, S> x, const ProgressFn& progress, InitialGuess from);

  bool due(const SolveStanding& now) override;
  void prepare() override;
  int not_before() override;
  std::optional<ExchangedSystem<T, S>> exchange(const std::vector<Span<T, S>>& vectors) override;
  double of_usual_iterations() const override { return s_.alternatives->forecasts().of_usual_iterations(); }
  double sure_of_solve() const override;
  GiveUpFn overdue() override;
  std::string preconditioner() const override;
  void follow(Span<const T, S>& b, Span<T, S>& x) const override;

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
  void renumber(std::vector<Span<T, S>> vectors, Span<T, S> scratch);
  bool by_factors_instead(SolveReport& report, const ProgressFn& progress);
  void go_on(SolveReport& report, const ProgressFn& progress);
  void learn(const SolveReport& report);

  SystemState<T, S>& s_;
  SystemMoves<T, S> moves_;
  bool may_move_;  // to another format or preconditioner
  Span<const T, S> b_;
  Span<T, S> x_;
  bool exchanged_ = false;  // b_ and x_ are not those that it began with
  bool guess_is_zero_ = false;
  int iterations_before_ = 0;        // of what the solve began with
  bool then_last_resort_ = true;     // after the others
  bool last_resort_failed_ = false;  // in this solve, before the others
  std::optional<Move> next_;
  std::optional<LastResortWatch<T, S>> watch_;  // of all attempts
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
