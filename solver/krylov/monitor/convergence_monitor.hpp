// SPDX-License-Identifier: Apache-2.0
/// ConvergenceMonitor: the host's side of one solve. It polls the state in S, keeps the history and turns events into
/// a report; its parts judge residuals, growth and time, and look ahead. Shared by all solvers. Internal.
#pragma once

#include <string>

#include <newel/solver/krylov.hpp>
#include "solver/krylov/monitor/exchange_question.hpp"
#include "solver/krylov/monitor/growth_watch.hpp"
#include "solver/krylov/monitor/iteration_forecast.hpp"
#include "solver/krylov/monitor/residual_judge.hpp"
#include "solver/krylov/monitor/solve_clock.hpp"
#include "solver/krylov/monitor/solve_outcome.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// Throws InputError unless A and M are n x n, b and x have length n and do not overlap.
template <class T, Space S>
void check_system(std::int64_t n, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, Span<const T, S> b,
                  Span<const T, S> x);

template <class T, Space S>
class ConvergenceMonitor {
 public:
  /// `scratch` is a double in S; `expected` is the number of iterations of the previous solve, 0: none. Throws
  /// InputError for lengths that do not match or an invalid criterion.
  ConvergenceMonitor(std::string_view solver, std::int64_t n, const SolveRequest<T, S>& arguments, double* scratch,
                     int expected);

  /// Computes |b| and r = b - A x. False if nothing is left to do (zero right-hand side, exact guess, NaN, no
  /// iterations allowed); the report is then complete.
  bool open(Span<T, S> r);
  /// The same if |b| and |b - A x| have been computed elsewhere; their squares must be finite and not zero. A
  /// residual that meets the tolerance is formed again, in r; where its rounding does not, there is something left to
  /// do.
  bool open(double rhs_norm, double initial_residual, Span<T, S> r);

  /// The initial state for a recurrence that starts from the current residual.
  MonitorState fresh_monitor() const;
  /// Iterations until the next poll.
  int check_every() const;

  /// Downloads the state, extends the history, calls the callback and reads the clock. False if the recurrence has
  /// stopped or is to stop. Growth that turns out not to be divergence raises the limit in the state, and the
  /// recurrence continues.
  bool poll(MonitorState* monitor);
  /// The same for iterations without a state in S: the event of the last one, and the residual after each. Iterations
  /// after a residual that counts as divergence are not counted, unless the last one meets the tolerance. `gained`:
  /// by these iterations, of CG.
  bool poll(int iteration, Event event, const double* residuals, double gained = 0);
  /// The same from a state that has been downloaded, whose residuals are in units of `unit`, and that must be
  /// uploaded again if its limit was raised.
  bool poll(MonitorState& state, double unit);
  /// What the last poll found: the event by which it returned false, or `none` if the caller or the time limit
  /// stopped the solve.
  const MonitorState& seen() const { return seen_; }

  /// To be called when the recurrence meets the tolerance: computes b - A x. True if that agrees (converged), if the
  /// solve was interrupted, or if the residual has already been replaced three times (stagnation); the status is then
  /// set. False: continue from the new r.
  bool confirm(Span<T, S> r);
  /// The outcome that belongs to an event other than `tolerance_met`; with `none`, that of an interruption.
  ///
  /// `v`, of CG: a recurrence residual keeps decreasing when b - A x has long reached rounding, until its squares
  /// underflow. It then says nothing about the signs of A and M, and the outcome is `stagnation`. `v` is a work
  /// vector.
  void conclude(Event event, std::optional<Span<T, S>> v = {});

  /// The report, with the true residual of the present x (formed with `r` unless it is known) and the time. After
  /// `conclude_stagnation` it says whether rounding is the reason, for which it uses `work` too.
  SolveReport close(Span<T, S> r, Span<T, S> work = {});

  SolveReport report;
  ResidualJudge<T, S> residual;
  GrowthWatch growth{most_growth<T>};  ///< 1 / eps: beyond, no digit of an intermediate x is left
  IterationForecast<S> forecast;
  ExchangeQuestion<T, S> exchange;
  SolveClock clock;
  SolveOutcome outcome{report};

 private:
  bool begin();  // from the residual as it is known
  bool record_progress();

  MonitorState seen_{};
  bool from_zero_ = false;  // the guess; once a solve has opened: and no product has shown what A makes of it
};

/// About the iterations to go; 0: not known.
template <class T, Space S>
double iterations_left(ConvergenceMonitor<T, S>& convergence);

}  // namespace newel::detail
