// SPDX-License-Identifier: Apache-2.0
/// Journal: the host's side of one solve. Forms true residuals, looks at the monitor, keeps history, clock and
/// callback, and turns what happened into a report. Shared by all solvers. Internal.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/krylov.hpp>
#include <purlin/solver/monitor.hpp>

namespace purlin::detail {

/// The system that a journal writes about.
template <class T, Space S>
struct SolveArguments {
  const Context<S>& ctx;
  const LinearOperator<T, S>& A;
  const LinearOperator<T, S>* M;
  Span<const T, S> b;
  Span<T, S> x;
  const StopCriterion& stop;
  const ProgressFn& progress;
};

/// Throws InputError unless A and M are n x n, b and x have length n and do not overlap.
template <class T, Space S>
void check_system(std::int64_t n, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, Span<const T, S> b,
                  Span<const T, S> x);

/// The reason of an attempt that ended in `stagnation` at this residual, which is called attainable or only reached.
std::string stagnation_reason(bool attainable, double relative_residual);

template <class T, Space S>
class Journal {
 public:
  /// `scratch` is a double in S; `expected` are the iterations of the solve before, 0: none. Throws InputError for
  /// lengths that do not fit or a criterion that makes no sense.
  Journal(std::string_view solver, std::int64_t n, const SolveArguments<T, S>& arguments, double* scratch,
          int expected);

  /// Forms |b| and r = b - A x. False where nothing is left to do (zero right-hand side, exact guess, NaN, no
  /// iterations allowed): the report is then complete.
  bool open(Span<T, S> r);

  /// The same where |b| and |b - A x| have been formed elsewhere, and are numbers whose squares are numbers too.
  bool open(double rhs_norm, double residual);

  /// A residual above `first` times max(|b|, |b - A x0|) ends the solve as divergence where `fault` names a reason
  /// why the method cannot work; where it has none (an empty text, asked for once) the limit becomes `most` times
  /// that. Without a call of this: 1 / eps of T, where an x that the iteration passes through has no digit of the
  /// solution left.
  void watch_growth(double first, double most, std::function<std::string()> fault);

  /// A residual above this is divergence.
  double growth_limit() const;

  /// A monitor for the recurrence that starts from the present residual.
  Monitor fresh_monitor() const;

  /// Downloads the monitor, extends history, calls the callback and looks at the clock. False when the recurrence has
  /// stopped or is to be stopped.
  /// Growth that turns out to be no divergence is allowed for in the monitor, and the recurrence goes on.
  bool look(Monitor* monitor);
  /// The same of iterations that were not monitored: how the last of them stands, and the residual after each. Those
  /// behind a residual that is divergence are not counted, unless the last meets the tolerance.
  bool look(int iteration, Event event, const double* residuals);
  /// The same from a monitor that has been downloaded, whose residuals count in `unit`, and that is to be uploaded
  /// again where growth was allowed for in it.
  bool look(Monitor& seen, double unit);

  /// Why `look` said false; `none` when the caller or the clock did.
  Event event() const { return seen_.event; }
  int iterations() const { return seen_.iteration; }
  /// The caller or the clock has asked for the end, at this look or at an earlier one.
  bool interrupted() const { return interrupted_ != Status::converged; }
  /// Iterations until the next look.
  int check_every() const;
  double tolerance() const { return report_.tolerance; }
  double residual() const { return residual_; }
  /// Since the solve began.
  double seconds() const;

  /// r = b - A x and its norm; true when it meets the tolerance.
  bool form_residual(Span<T, S> r);

  /// After the recurrence met the tolerance: forms b - A x. True when that agrees (converged), when the solve was
  /// interrupted, or when the residual has been replaced three times already (stagnation); the status is then set.
  /// False: go on from the new r.
  bool confirm(Span<T, S> r);
  /// The same with |b - A x| formed elsewhere. False: that is above the tolerance, or too small to have been formed
  /// from squares.
  bool confirm(double true_residual);

  /// Sets the outcome unless it is set.
  void conclude(Status status, std::string reason);
  /// The outcome that belongs to an event other than `tolerance_met`; with `none`, that of an interruption.
  void conclude(Event event);
  /// The same for CG. A recurrence goes on falling when b - A x has long been rounding, in the end until its squares
  /// vanish: what it then says of the signs of A and M is nothing, and the outcome is `stagnation`. `v` is a work
  /// vector.
  void conclude(Event event, Span<T, S> v);
  /// Status `diverged`, at the true residual of the present x.
  void conclude_divergence();
  /// Status `stagnation`; `close` finds the reason.
  void conclude_stagnation();

  SolveReport& report() { return report_; }

  /// The report, with the true residual of the present x (formed with `r` unless it is known) and the time. After
  /// `conclude_stagnation` it says whether rounding is the reason, for which it uses `work` too.
  SolveReport close(Span<T, S> r, Span<T, S> work = {});

 private:
  bool tell();  // what `look` has seen
  bool excuse_growth();
  void allow_for_growth(Monitor& monitor, double unit) const;
  void explain_stagnation(Span<T, S> v, Span<T, S> w);
  void note_rhs(double norm);
  bool begin();  // from the residual as it is known
  double norm(Span<const T, S> v);
  bool refuse_norm(double norm, Span<const T, S> v, const char* what);

  SolveArguments<T, S> args_;
  double* scratch_;
  SolveReport report_;
  Monitor seen_{};
  int expected_;
  double residual_ = 0;          // the latest true residual
  bool residual_known_ = false;  // residual_ belongs to the present x
  bool concluded_ = false, stagnated_ = false;
  double growth_ = detail::most_growth<T>;  // of max(|b|, |b - A x0|)
  double most_growth_ = 0;                  // where there is no fault
  std::function<std::string()> fault_;      // empty where it has been asked or there is none to ask
  std::string found_fault_;
  Status interrupted_ = Status::converged;  // or stopped_by_caller, time_limit
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace purlin::detail
