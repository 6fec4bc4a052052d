// SPDX-License-Identifier: Apache-2.0
// How a solve begins: |b|, the first residual, and what is refused or done by then.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel::detail {
namespace {

// Largest absolute value of v: not finite where an entry is not.
template <class T, Space S>
double most_of(const ResidualJudge<T, S>& residual, Span<const T, S> v) {
  const Context<S>& ctx = residual.system().ctx;
  max_abs<T>(ctx, v, residual.scratch());
  return fetch(ctx, static_cast<const double*>(residual.scratch()));
}

template <class T, Space S>
bool guess_is_finite(const ResidualJudge<T, S>& residual) {
  return std::isfinite(most_of<T, S>(residual, Span<const T, S>(residual.system().x)));
}

template <class T, Space S>
void note_rhs(ConvergenceMonitor<T, S>& convergence, double norm) {
  const StopCriterion& stop = convergence.residual.system().stop;
  convergence.report.rhs_norm = norm;
  convergence.report.tolerance = std::max(stop.rel_tol * norm, stop.abs_tol);
  convergence.residual.set_rhs(norm, convergence.report.tolerance);
}

// A sum of squares can leave the range of double where the vector does not.
template <class T, Space S>
bool refuse_rhs(ConvergenceMonitor<T, S>& convergence, double norm) {
  constexpr double most_safe_norm = 1 / least_safe_norm;
  if (norm == 0 || (norm >= least_safe_norm && norm <= most_safe_norm)) return false;
  const double most = most_of<T, S>(convergence.residual, convergence.residual.system().b);
  const Cause overflow = std::isfinite(most) ? Cause::norm_overflows : Cause::not_finite_input;
  convergence.outcome.conclude(
      Status::not_finite, {norm < least_safe_norm ? Cause::norm_underflows : overflow, Subject::right_hand_side});
  return true;
}

// r = b - A x by an ordinary product, as those that follow. What might be an outcome is formed in twice the
// precision.
template <class T, Space S>
void form_first_residual(ResidualJudge<T, S>& residual, Span<T, S> r) {
  residual.form_roughly(r);
  const bool is_finite = guess_is_finite(residual);  // which a column without entries would hide
  const bool may_end = !(residual.norm() > residual.tolerance()) || !std::isfinite(residual.norm()) || !is_finite;
  if (may_end || residual.system().stop.max_iterations == 0) residual.form(r);
}

// A guess so far from any solution that its residual, or squares of that, leave the range is worse than none. One
// that is not finite itself is refused, as are entries of A, which the residual at zero shows.
template <class T, Space S>
void leave_guess_out_of_range(ResidualJudge<T, S>& residual, SolveReport& report, Span<T, S> r) {
  const auto& [ctx, A, M, b, x, stop, progress, guess, exchange, give_up, recycling] = residual.system();
  if (residual.norm() <= most_of_guess<T> * std::max(1.0, report.rhs_norm / most_of_guess<T>)) return;
  if (!guess_is_finite(residual)) return;
  const bool overflows = !std::isfinite(residual.norm());
  fill<T, S>(ctx, T(0), x);
  if (overflows) {
    residual.form(r);
    report.initial_residual =
        std::isfinite(residual.norm()) ? std::numeric_limits<double>::infinity() : residual.norm();
    return;
  }
  copy<T>(ctx, b, r);
  residual.take_rhs();
}

}  // namespace

template <class T, Space S>
bool ConvergenceMonitor<T, S>::open(Span<T, S> r) {
  const SolveRequest<T, S>& system = residual.system();
  const bool zero = std::exchange(from_zero_, false);
  const double rhs_norm = norm_in_range<T, S>(system.ctx, system.b, residual.scratch());
  note_rhs(*this, rhs_norm);
  if (rhs_norm < least_safe_norm && system.stop.abs_tol >= least_safe_norm) {
    // The absolute tolerance decides.
  } else if (refuse_rhs(*this, rhs_norm)) {
    residual.form(r);
    report.initial_residual = report.recurrence_residual = residual.norm();
    report.history = {residual.norm()};
    return false;
  }
  if (rhs_norm == 0) {
    // x = 0 is the solution, wherever the guess was.
    if (!zero) form_first_residual(residual, r);
    report.initial_residual = zero ? 0 : residual.norm();
    report.history = {report.initial_residual};
    fill<T, S>(system.ctx, T(0), system.x);
    residual.take_rhs();
    outcome.conclude(Status::converged);
    return false;
  }
  // An outcome needs a residual that was formed, and nothing else would show that A is finite.
  from_zero_ = zero && rhs_norm > report.tolerance && system.stop.max_iterations > 0;
  if (from_zero_) {
    copy<T>(system.ctx, system.b, r);
    residual.take_rhs();
  } else {
    form_first_residual(residual, r);
  }
  report.initial_residual = residual.norm();
  leave_guess_out_of_range(residual, report, r);
  return begin();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::open(double rhs_norm, double initial_residual, Span<T, S> r) {
  note_rhs(*this, rhs_norm);
  from_zero_ = false;
  residual.take(initial_residual);
  if (initial_residual <= report.tolerance) residual.form(r);
  report.initial_residual = residual.norm();
  return begin();
}

template <class T, Space S>
bool ConvergenceMonitor<T, S>::begin() {
  report.recurrence_residual = seen_.residual = residual.norm();
  report.history = {report.initial_residual};
  growth.begin(std::max(report.rhs_norm, residual.norm()));
  forecast.note(report.history, seen_);
  if (residual.known() && residual.meets_tolerance()) {
    outcome.conclude(Status::converged);
  } else if (!std::isfinite(residual.norm())) {
    const Failure of_guess{Cause::not_finite_input, Subject::initial_guess};
    outcome.conclude(Status::not_finite, guess_is_finite(residual) ? Failure{Cause::not_finite_residual} : of_guess);
  } else if (residual.system().stop.max_iterations == 0) {
    conclude(Event::iterations_spent);
  }
  return !outcome.known();
}

#define X(T, S)                                                             \
  template bool ConvergenceMonitor<T, S>::open(Span<T, S>);                 \
  template bool ConvergenceMonitor<T, S>::open(double, double, Span<T, S>); \
  template bool ConvergenceMonitor<T, S>::begin();
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
