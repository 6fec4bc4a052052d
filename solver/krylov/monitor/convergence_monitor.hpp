// SPDX-License-Identifier: Apache-2.0
/// ConvergenceMonitor: the host's side of one solve. It computes true residuals, polls the state in S, keeps history,
/// clock and callback, and turns events into a report. Shared by all solvers. Internal.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <newel/core/vector_ops.hpp>
#include <newel/solver/krylov.hpp>
#include "solver/krylov/monitor/operator_exchange.hpp"
#include "solver/krylov/monitor/residual_rate.hpp"
#include "solver/krylov/monitor/true_residual.hpp"
#include "solver/krylov/steps/cg_spectrum.hpp"
#include "solver/krylov/steps/energy_gains.hpp"
#include "solver/krylov/steps/monitor_state.hpp"

namespace newel::detail {

/// Throws InputError unless A and M are n x n, b and x have length n and do not overlap.
template <class T, Space S>
void check_system(std::int64_t n, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, Span<const T, S> b,
                  Span<const T, S> x);

/// Of an attempt that ended in `stagnation` at this residual, which is attainable or was only reached.
Failure stagnation_at(bool attainable, double relative_residual);

/// What a report of one attempt says, as an attempt.
Attempt only_attempt(const SolveReport& report);

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
  bool open(double rhs_norm, double residual, Span<T, S> r);

  /// A residual above `first` times max(|b|, |b - A x0|) ends the solve as divergence if `fault` names an operator
  /// that the method cannot work with. If it names none (it is called once), the limit becomes `most` times that.
  /// Without this call the limit is 1 / eps of T, beyond which no digit of an intermediate x is left.
  void watch_growth(double first, double most, std::function<Asymmetric()> fault);

  /// Whether the solve has ended since its residual grew.
  bool has_grown() const;

  /// A residual above this is divergence.
  double growth_limit() const;

  /// Before so many iterations `exchange_due` need not be asked; `no_exchange`: not at all.
  int exchange_not_before() const {
    if (exchange_ == nullptr) return no_exchange;
    if (not_before_ == unknown) not_before_ = exchange_->not_before();
    return not_before_;
  }
  /// To be called while a device is at work: see OperatorExchange::prepare.
  void prepare_exchange() {
    if (exchange_ != nullptr) exchange_->prepare();
  }
  /// Iterations up to the next poll: as many as `check_every` has, fewer where other operators may be due before.
  int until_poll() const;
  /// Where CG notes the coefficients of its first iterations, by which the iterations to go are estimated too.
  void watch_spectrum(Span<const CgCoefficients, S> coefficients) { coefficients_ = coefficients; }
  /// The first residual that tells how fast they fall is the one after so many iterations: those before are in
  /// another norm.
  void begin_rate_at(int iteration) { rate_from_ = iteration; }
  /// Whether the solve should change its operators here. To be asked after a poll that returned true.
  bool exchange_due();
  /// Makes the change, by which `vectors` and x are renumbered; then the arguments to go on with. Nothing: there is
  /// none to be had, and all is as it was.
  std::optional<SolveRequest<T, S>> exchange(const std::vector<Span<T, S>>& vectors, bool* same_preconditioner);

  /// The initial state for a recurrence that starts from the current residual.
  MonitorState fresh_monitor() const;

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
  bool poll(MonitorState& seen, double unit);

  /// Why `poll` returned false; `none` if the caller or the time limit stopped the solve.
  Event event() const { return seen_.event; }
  int iterations() const { return seen_.iteration; }
  /// Those with the present M: what the next solve may expect to take.
  int iterations_with_present() const { return seen_.iteration - with_present_from_; }
  /// The caller or the time limit has stopped the solve, at this poll or an earlier one.
  bool interrupted() const { return interrupted_ != Status::converged; }
  /// Iterations until the next poll.
  int check_every() const;
  double tolerance() const { return report_.tolerance; }
  double residual() const { return residual_; }
  /// Whether that belongs to the present x.
  bool knows_residual() const { return residual_known_; }
  /// Since the solve began.
  double seconds() const;

  /// r = b - A x in twice the precision and its norm; true when that, its rounding included, meets the tolerance.
  bool form_residual(Span<T, S> r);

  /// Whether the residual that was formed last is as small in every row as rounding allows.
  bool rows_are_solved() const;

  /// To be called when the recurrence meets the tolerance: computes b - A x. True if that agrees (converged), if the
  /// solve was interrupted, or if the residual has already been replaced three times (stagnation); the status is then
  /// set. False: continue from the new r.
  bool confirm(Span<T, S> r);
  /// Sets the outcome unless it is set.
  void conclude(Status status, Failure failure = {});
  bool has_outcome() const { return concluded_; }
  /// The outcome that belongs to an event other than `tolerance_met`; with `none`, that of an interruption.
  void conclude(Event event);
  /// The same for CG. A recurrence residual keeps decreasing when b - A x has long reached rounding, until its
  /// squares underflow. It then says nothing about the signs of A and M, and the outcome is `stagnation`. `v` is a
  /// work vector.
  void conclude(Event event, Span<T, S> v);
  /// Status `diverged`, at the true residual of the present x.
  void conclude_divergence();
  /// Status `stagnation`; `close` finds the reason.
  void conclude_stagnation();
  /// The same, and `breakdown` of a Krylov space that is exhausted if `close` finds that rounding is not the reason.
  void conclude_exhaustion();

  SolveReport& report() { return report_; }

  /// The report, with the true residual of the present x (formed with `r` unless it is known) and the time. After
  /// `conclude_stagnation` it says whether rounding is the reason, for which it uses `work` too.
  SolveReport close(Span<T, S> r, Span<T, S> work = {});

 private:
  bool record_progress();  // what `poll` has read
  void doubt_residual_at_zero(Span<T, S> r);
  bool growth_is_harmless();
  void allow_for_growth(MonitorState& monitor, double unit) const;
  void explain_stagnation(Span<T, S> v, Span<T, S> w);
  void note_rhs(double norm);
  bool begin();  // from the residual as it is known
  double iterations_left();
  double norm(Span<const T, S> v);
  bool meets_tolerance() const;
  void leave_guess_out_of_range(Span<T, S> r);
  void know_residual_at_zero();
  void form_first_residual(Span<T, S> r);
  bool refuse_norm(double norm, Span<const T, S> v, Subject what);

  std::optional<SolveRequest<T, S>> args_;  // changed by an exchange
  double* scratch_;
  SolveReport report_;
  MonitorState seen_{};
  ResidualRate rate_;
  int rate_from_ = 0;  // the iteration that it begins with: the last with another M
  int with_present_from_ = 0;
  CgSpectrum spectrum_;
  EnergyGains gains_;  // with the present M
  Span<const CgCoefficients, S> coefficients_;
  OperatorExchange<T, S>* exchange_ = nullptr;
  static constexpr int unknown = -1;
  mutable int not_before_ = unknown;  ///< what it said last; it depends on what it was asked and has changed since
  int expected_;
  double residual_ = 0;          // the latest true residual
  TrueResidual judged_;          // the same, where `form_residual` has formed it
  double begun_at_ = 0;          // the residual from which the iteration began
  bool residual_known_ = false;  // residual_ belongs to the present x
  bool from_zero_ = false;       // the guess; once a solve has opened: and no product has shown what A makes of it
  bool concluded_ = false, stagnated_ = false, exhausted_ = false;
  double growth_ = detail::most_growth<T>;  // of max(|b|, |b - A x0|)
  double most_growth_ = 0;                  // where there is no fault
  std::function<Asymmetric()> fault_;       // empty where it has been asked or there is none to ask
  bool known_symmetric_ = false;            // it has been asked, and named none
  Asymmetric found_fault_ = Asymmetric::none;
  Status interrupted_ = Status::converged;  // or stopped_by_caller, time_limit
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace newel::detail
