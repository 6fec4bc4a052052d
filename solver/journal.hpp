// SPDX-License-Identifier: Apache-2.0
/// Journal: the host's side of one solve. Forms true residuals, looks at the monitor, keeps history, clock and
/// callback, and turns what happened into a report. Shared by all solvers. Internal.
#pragma once

#include <chrono>

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

  /// A monitor for the recurrence that starts from the present residual.
  Monitor fresh_monitor() const;

  /// Downloads the monitor, extends history, calls the callback and looks at the clock. False when the recurrence has
  /// stopped or is to be stopped.
  bool look(const Monitor* monitor);
  /// The same of iterations that were not monitored: how the last of them stands, and the residual after each.
  bool look(int iteration, Event event, const double* residuals);
  /// The same from a monitor that has been downloaded, whose residuals count in `unit`.
  bool look(const Monitor& seen, double unit);

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
  bool confirm(Span<T, S> r, Span<T, S> work);
  /// The same with |b - A x| formed elsewhere. False: that is above the tolerance, or too small to have been formed
  /// from squares.
  bool confirm(double true_residual);

  /// Sets the outcome unless it is set.
  void conclude(Status status, std::string reason);
  /// The outcome that belongs to an event other than `tolerance_met`; with `none`, that of an interruption.
  void conclude(Event event);
  /// The same for CG. A recurrence goes on falling when b - A x has long been rounding, in the end until its squares
  /// vanish: what it then says of the signs of A and M is nothing, and the outcome is `stagnation`. Takes two work
  /// vectors.
  void conclude(Event event, Span<T, S> v, Span<T, S> w);
  /// eps |A| |x| in the report, |A| by power iterations with two work vectors; then status `stagnation`.
  void conclude_stagnation(Span<T, S> v, Span<T, S> w);

  SolveReport& report() { return report_; }

  /// The report, with the true residual of the present x (formed with `r` unless it is known) and the time.
  SolveReport close(Span<T, S> r);

 private:
  bool tell();  // what `look` has seen
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
  bool concluded_ = false;
  Status interrupted_ = Status::converged;  // or stopped_by_caller, time_limit
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace purlin::detail
