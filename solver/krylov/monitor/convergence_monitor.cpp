// SPDX-License-Identifier: Apache-2.0
// The host's side of a solve: true residuals and polls.
#include "solver/krylov/monitor/convergence_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/own_progress.hpp"
#include "solver/krylov/steps/convergence_steps.hpp"

namespace newel::detail {
namespace {

constexpr int most_replacements = 3;

void check_criterion(const StopCriterion& stop) {
  if (stop.max_iterations < 0) throw InputError("max_iterations is 0 or more");
  if (!(stop.rel_tol >= 0) || !(stop.abs_tol >= 0)) throw InputError("tolerances are 0 or more");
  if (!(stop.time_limit_seconds >= 0)) throw InputError("the time limit is 0 (none) or more");
  if (stop.check_every < 0 || stop.check_every > MonitorState::max_between_polls) {
    throw InputError("check_every is 0 (automatic) to " + std::to_string(MonitorState::max_between_polls));
  }
}

}  // namespace

template <class T, Space S>
void check_system(std::int64_t n, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, Span<const T, S> b,
                  Span<const T, S> x) {
  if (A.rows() != n || A.cols() != n || b.size != n || x.size != n ||
      (M != nullptr && (M->rows() != n || M->cols() != n))) {
    throw InputError("a solver of " + std::to_string(n) + " unknowns got a matrix of " + std::to_string(A.rows()) +
                     " x " + std::to_string(A.cols()) + ", b of length " + std::to_string(b.size) + ", x of length " +
                     std::to_string(x.size) +
                     (M != nullptr ? ", a preconditioner of " + std::to_string(M->rows()) : ""));
  }
  if (n > 0 && b.data < x.data + n && x.data < b.data + n) throw InputError("b and x share memory");
}

template <class T, Space S>
ConvergenceMonitor<T, S>::ConvergenceMonitor(std::string_view solver, std::int64_t n,
                                             const SolveRequest<T, S>& arguments, double* scratch, int expected)
    : args_(arguments),
      scratch_(scratch),
      exchange_(arguments.exchange),
      expected_(expected),
      from_zero_(arguments.guess == InitialGuess::zero) {
  check_system<T, S>(n, args_->A, args_->M, args_->b, args_->x);
  check_criterion(args_->stop);
  args_->ctx.make_current();
  report_.solver = report_.method = solver;
}

// A poll waits for the device, and an iteration after the end is wasted. If the previous solve took few iterations,
// this one is polled after as many, and often from then on. Where M takes long, the rate of the residual tells when
// the end is near.
template <class T, Space S>
int ConvergenceMonitor<T, S>::check_every() const {
  constexpr int seldom = 16, often = 4;
  constexpr double safe_share = 0.75;  // of the iterations that the rate makes expect
  if (args_->stop.check_every > 0) return args_->stop.check_every;
  if (S == Space::host) return 1;
  const int to_expected = std::max(expected_ - seen_.iteration, 0);
  if (args_->M != nullptr && args_->M->takes_long()) {
    const double by_rate = rate_.left(seen_.tolerance);
    double next = to_expected > 0 ? to_expected : by_rate > 0 ? safe_share * by_rate : often;
    if (by_rate > 0) next = std::min(next, std::ceil(by_rate));
    return static_cast<int>(std::clamp(next, 1.0, double{seldom}));
  }
  if (expected_ <= 0 || expected_ >= seldom) return seldom;
  return to_expected > 0 ? to_expected : often;
}

template <class T, Space S>
int ConvergenceMonitor<T, S>::until_poll() const {
  const int to_exchange = exchange_not_before() - seen_.iteration;
  return to_exchange > 0 ? std::min(check_every(), to_exchange) : check_every();
}

template <class T, Space S>
double ConvergenceMonitor<T, S>::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

template <class T, Space S>
double ConvergenceMonitor<T, S>::norm(Span<const T, S> v) {
  norm2<T, S>(args_->ctx, v, scratch_);
  return fetch(args_->ctx, scratch_);
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::refuse_norm(double norm, Span<const T, S> v, Subject what) {
  constexpr double most_safe_norm = 1 / least_safe_norm;
  if (norm == 0 || (norm >= least_safe_norm && norm <= most_safe_norm)) return false;
  // A sum of squares can leave the range of double where the vector does not.
  max_abs<T>(args_->ctx, v, scratch_);
  const double most = fetch(args_->ctx, static_cast<const double*>(scratch_));
  conclude(Status::not_finite, {norm < least_safe_norm ? Cause::norm_underflows
                                : std::isfinite(most)  ? Cause::norm_overflows
                                                       : Cause::not_finite_input,
                                what});
  return true;
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::open(Span<T, S> r) {
  const bool zero = std::exchange(from_zero_, false);
  const double rhs_norm = norm_in_range<T, S>(args_->ctx, args_->b, scratch_);
  note_rhs(rhs_norm);
  if (rhs_norm < least_safe_norm && args_->stop.abs_tol >= least_safe_norm) {
    // The absolute tolerance decides.
  } else if (refuse_norm(rhs_norm, args_->b, Subject::right_hand_side)) {
    form_residual(r);
    report_.initial_residual = report_.recurrence_residual = residual_;
    report_.history = {residual_};
    return false;
  }
  if (report_.rhs_norm == 0) {
    // x = 0 is the solution, wherever the guess was.
    if (!zero) form_first_residual(r);
    report_.initial_residual = zero ? 0 : residual_;
    report_.history = {report_.initial_residual};
    fill<T, S>(args_->ctx, T(0), args_->x);
    know_residual_at_zero();
    conclude(Status::converged);
    return false;
  }
  // An outcome needs a residual that was formed, and nothing else would show that A is finite.
  from_zero_ = zero && report_.rhs_norm > report_.tolerance && args_->stop.max_iterations > 0;
  if (from_zero_) {
    copy<T>(args_->ctx, args_->b, r);
    know_residual_at_zero();
  } else {
    form_first_residual(r);
  }
  report_.initial_residual = residual_;
  leave_guess_out_of_range(r);
  return begin();
}

// r = b - A x by an ordinary product, as those that follow. What might be an outcome is formed in twice the
// precision.
template <class T, Space S>
void ConvergenceMonitor<T, S>::form_first_residual(Span<T, S> r) {
  copy<T>(args_->ctx, args_->b, r);
  args_->A.apply(args_->ctx, T(-1), Span<const T, S>(args_->x), T(1), r);
  residual_ = norm_in_range<T, S>(args_->ctx, Span<const T, S>(r), scratch_);
  residual_known_ = false;
  max_abs<T>(args_->ctx, Span<const T, S>(args_->x), scratch_);  // which a column without entries would hide
  const bool is_finite = std::isfinite(fetch(args_->ctx, static_cast<const double*>(scratch_)));
  const bool may_end = !(residual_ > report_.tolerance) || !std::isfinite(residual_) || !is_finite;
  if (may_end || args_->stop.max_iterations == 0) form_residual(r);
}

// A guess so far from any solution that its residual, or squares of that, leave the range is worse than none. One
// that is not finite itself is refused, as are entries of A, which the residual at zero shows.
template <class T, Space S>
void ConvergenceMonitor<T, S>::leave_guess_out_of_range(Span<T, S> r) {
  const auto& ctx = args_->ctx;
  if (residual_ <= most_of_guess<T> * std::max(1.0, report_.rhs_norm / most_of_guess<T>)) return;
  max_abs<T>(ctx, Span<const T, S>(args_->x), scratch_);
  if (!std::isfinite(fetch(ctx, static_cast<const double*>(scratch_)))) return;
  const bool overflows = !std::isfinite(residual_);
  fill<T, S>(ctx, T(0), args_->x);
  if (overflows) {
    form_residual(r);
    report_.initial_residual = std::isfinite(residual_) ? std::numeric_limits<double>::infinity() : residual_;
    return;
  }
  copy<T>(ctx, args_->b, r);
  know_residual_at_zero();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::open(double rhs_norm, double residual, Span<T, S> r) {
  note_rhs(rhs_norm);
  from_zero_ = false;
  if (residual <= report_.tolerance) {
    form_residual(r);
  } else {
    residual_ = residual;
    judged_ = {};
    residual_known_ = false;
  }
  report_.initial_residual = residual_;
  return begin();
}

// It is b, without a product and without rounding.
template <class T, Space S>
void ConvergenceMonitor<T, S>::know_residual_at_zero() {
  residual_ = report_.rhs_norm;
  judged_ = {residual_, 0, true, residual_ > 0 ? 1.0 : 0.0, 0};
  residual_known_ = true;
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::note_rhs(double norm) {
  report_.rhs_norm = norm;
  report_.tolerance = std::max(args_->stop.rel_tol * norm, args_->stop.abs_tol);
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::begin() {
  report_.recurrence_residual = seen_.residual = begun_at_ = residual_;
  report_.history = {report_.initial_residual};
  gains_.add(0, 0);
  if (residual_known_ && meets_tolerance()) {
    conclude(Status::converged);
  } else if (!std::isfinite(residual_)) {
    max_abs<T>(args_->ctx, Span<const T, S>(args_->x), scratch_);
    const bool of_guess = !std::isfinite(fetch(args_->ctx, static_cast<const double*>(scratch_)));
    conclude(Status::not_finite, of_guess ? Failure{Cause::not_finite_input, Subject::initial_guess}
                                          : Failure{Cause::not_finite_residual});
  } else if (args_->stop.max_iterations == 0) {
    conclude(Event::iterations_spent);
  }
  return !concluded_;
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::watch_growth(double first, double most, std::function<Asymmetric()> fault) {
  growth_ = first;
  most_growth_ = most;
  fault_ = std::move(fault);
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::exchange_due() {
  if (exchange_ == nullptr || seen_.iteration < exchange_not_before()) return false;
  prepare_exchange();
  not_before_ = unknown;  // it may have been no more than when to prepare
  if (seen_.iteration < exchange_not_before()) return false;
  const bool by_rate = rate_.left(seen_.tolerance) > 0;
  const double left = iterations_left();
  const double sure = spectrum_.taken() > 0 ? rate_.sure(seen_.tolerance, exchange_->sure_of_solve()) : 0;
  not_before_ = unknown;
  return exchange_->due({seen_.iteration, left, by_rate, seen_.residual, seen_.tolerance, sure,
                         report_.initial_residual, seen_.gained, gains_.lately()});
}

template <class T, Space S>
double ConvergenceMonitor<T, S>::iterations_left() {
  const ResidualTrend trend = rate_.trend(seen_.tolerance);
  const int steps = CgSpectrum::used(std::min(seen_.iteration, static_cast<int>(coefficients_.size)) - rate_from_);
  if (steps > spectrum_.taken()) spectrum_.take(to_vector(args_->ctx, coefficients_.subspan(rate_from_, steps)));
  const double of_usual = exchange_ != nullptr ? exchange_->of_usual_iterations() : 1;
  const double by_both =
      spectrum_.left(rate_.least(), seen_.tolerance, trend, static_cast<double>(args_->x.size), of_usual);
  return by_both > 0 ? by_both : trend.by_rate;
}

template <class T, Space S>
std::optional<SolveRequest<T, S>> ConvergenceMonitor<T, S>::exchange(const std::vector<Span<T, S>>& vectors,
                                                                     bool* same_preconditioner) {
  not_before_ = unknown;
  const auto changed = exchange_->exchange(vectors);
  if (!changed) return std::nullopt;
  *same_preconditioner = changed->same_preconditioner;
  if (!changed->same_preconditioner) {
    rate_ = {};
    spectrum_ = {};
    gains_ = {};
    gains_.add(seen_.iteration, seen_.gained);
    rate_from_ = with_present_from_ = seen_.iteration;
    expected_ = 0;
  }
  const SolveRequest<T, S> before = *args_;
  args_.emplace(SolveRequest<T, S>{before.ctx, changed->A, changed->M, changed->b, changed->x, before.stop,
                                   before.progress, before.guess, before.exchange});
  return args_;
}

template <class T, Space S>
double ConvergenceMonitor<T, S>::growth_limit() const {
  return growth_ * std::max(report_.rhs_norm, begun_at_);
}

// True where growth beyond the first limit is no divergence: the limit is then the last one.
template <class T, Space S>
bool ConvergenceMonitor<T, S>::growth_is_harmless() {
  if (!fault_) return false;
  found_fault_ = fault_();
  fault_ = nullptr;
  if (found_fault_ != Asymmetric::none) return false;
  known_symmetric_ = true;
  growth_ = most_growth_;
  return true;
}

template <class T, Space S>
void ConvergenceMonitor<T, S>::allow_for_growth(MonitorState& monitor, double unit) const {
  monitor.growth_limit = growth_limit() / unit;
  if (monitor.residual > monitor.growth_limit) return;
  monitor.event = event_of(monitor.residual, monitor.tolerance, monitor.iteration, monitor.max_iterations);
}

template <class T, Space S>
MonitorState ConvergenceMonitor<T, S>::fresh_monitor() const {
  MonitorState monitor{};
  monitor.tolerance = report_.tolerance;
  monitor.growth_limit = growth_limit();
  monitor.residual = residual_;
  monitor.gained = seen_.gained;
  monitor.iteration = seen_.iteration;
  monitor.max_iterations = args_->stop.max_iterations;
  monitor.event = seen_.iteration >= args_->stop.max_iterations ? Event::iterations_spent : Event::none;
  return monitor;
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::poll(MonitorState* monitor) {
  const int before = seen_.iteration;
  if constexpr (S == Space::device) prepare_exchange();  // it is at work on the iterations
  seen_ = fetch(args_->ctx, static_cast<const MonitorState*>(monitor));
  if (seen_.event == Event::diverged && growth_is_harmless()) {
    allow_for_growth(seen_, 1);
    copy<MonitorState>(args_->ctx, Span<const MonitorState, Space::host>(&seen_, 1),
                       Span<MonitorState, S>(monitor, 1));
  }
  for (int k = before + 1; k <= seen_.iteration; ++k) {
    report_.history.push_back(seen_.recent[k % MonitorState::max_between_polls]);
  }
  return record_progress();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::poll(int iteration, Event event, const double* residuals, double gained) {
  for (int k = seen_.iteration + 1; k <= iteration && event != Event::tolerance_met; ++k) {
    const double residual = residuals[k - seen_.iteration - 1];
    if (!(residual > growth_limit()) || (growth_is_harmless() && !(residual > growth_limit()))) continue;
    iteration = k;
    event = Event::diverged;
  }
  report_.history.insert(report_.history.end(), residuals, residuals + (iteration - seen_.iteration));
  seen_.tolerance = report_.tolerance;
  seen_.residual = report_.history.back();
  seen_.gained += gained;
  seen_.iteration = iteration;
  seen_.event = event;
  return record_progress();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::poll(MonitorState& seen, double unit) {
  if (seen.event == Event::diverged && growth_is_harmless()) allow_for_growth(seen, unit);
  double residuals[MonitorState::max_between_polls];
  for (int k = seen_.iteration + 1; k <= seen.iteration; ++k) {
    residuals[k - seen_.iteration - 1] = unit * seen.recent[k % MonitorState::max_between_polls];
  }
  return poll(seen.iteration, seen.event, residuals);
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::record_progress() {
  if (seen_.iteration > report_.iterations) residual_known_ = false;
  report_.iterations = seen_.iteration;
  report_.recurrence_residual = seen_.residual;
  for (int k = rate_from_ + rate_.iterations() + 1; k <= seen_.iteration; ++k) {
    rate_.add(report_.history[static_cast<std::size_t>(k)]);
  }
  gains_.add(seen_.iteration, seen_.gained);
  const double elapsed = seconds();
  if (args_->progress) {
    Progress now{report_.solver,  seen_.iteration, seen_.residual, report_.relative(seen_.residual),
                 seen_.tolerance, elapsed};
    if (is_watched(args_->progress)) now.iterations_left = iterations_left();
    if (!args_->progress(now)) interrupted_ = Status::stopped_by_caller;
  }
  if (!interrupted() && args_->stop.time_limit_seconds > 0 && elapsed > args_->stop.time_limit_seconds) {
    interrupted_ = Status::time_limit;
  }
  return seen_.running() && !interrupted();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::form_residual(Span<T, S> r) {
  judged_ = true_residual<T, S>(args_->ctx, args_->A, args_->b, Span<const T, S>(args_->x), report_.rhs_norm,
                                report_.tolerance, r, scratch_);
  residual_ = judged_.norm;
  residual_known_ = true;
  return meets_tolerance();
}

// An estimate of the rounding is compared by itself: it is no bound that could be added.
template <class T, Space S>
bool ConvergenceMonitor<T, S>::meets_tolerance() const {
  if (judged_.proven) return judged_.norm + judged_.error_bound <= report_.tolerance;
  return judged_.norm <= report_.tolerance && judged_.error_bound <= report_.tolerance;
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::confirm(Span<T, S> r) {
  if (form_residual(r)) {
    conclude(Status::converged);
    return true;
  }
  if (!std::isfinite(residual_)) {
    conclude(Event::not_finite);
    return true;
  }
  if (interrupted()) {
    conclude(Event::none);
    return true;
  }
  if (report_.residual_replacements == most_replacements) {
    conclude_stagnation();
    return true;
  }
  ++report_.residual_replacements;
  return false;
}

#define X(T, S)                                                                                      \
  template class ConvergenceMonitor<T, S>;                                                           \
  template void check_system(std::int64_t, const LinearOperator<T, S>&, const LinearOperator<T, S>*, \
                             Span<const T, S>, Span<const T, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
