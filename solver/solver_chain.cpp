// SPDX-License-Identifier: Apache-2.0
// Trying solvers in turn.
#include <purlin/solver/solver_chain.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>

namespace purlin::detail {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// After these the next solver may do better from the same x.
bool worth_another_solver(const SolveReport& report) {
  switch (report.status) {
    case Status::breakdown:
    case Status::not_positive_definite:
    case Status::stagnation:
      return true;
    case Status::not_finite:
      return std::isfinite(report.initial_residual);
    default:
      return false;
  }
}

// Appends what a later attempt did to the report of the earlier ones.
void append_attempt(SolveReport& whole, SolveReport&& next) {
  next.attempts.insert(next.attempts.begin(), whole.attempts.begin(), whole.attempts.end());
  next.history.insert(next.history.begin(), whole.history.begin(), whole.history.end());
  next.iterations += whole.iterations;
  next.resident = next.resident && whole.resident;
  next.initial_residual = whole.initial_residual;
  next.residual_replacements += whole.residual_replacements;
  next.refinements += whole.refinements;
  next.restarts += whole.restarts;
  next.second_passes += whole.second_passes;
  next.seconds += whole.seconds;
  whole = std::move(next);
}

// The last attempt's outcome, seen from outside it.
void overrule(SolveReport& report, Status status, std::string reason) {
  report.status = report.attempts.back().status = status;
  report.reason = report.attempts.back().reason = std::move(reason);
}

}  // namespace

template <class T, Space S>
SolverChain<T, S>::SolverChain(const Context<S>& ctx, const SolverChoice& choice, const SolverOptions& options,
                               const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, bool constant_null_space,
                               SolverFactory<T, S> make)
    : ctx_(ctx), choice_(choice), options_(options), make_(std::move(make)), A_(A), M_(M) {
  KrylovSolver<T, S>& first = solver(choice_.order.front());
  if (choice_.order.size() > 1) best_x_ = Array<T, S>(ctx_, A_.rows());
  if (!constant_null_space) {
    first.prepare(ctx_, A_, M_);
    return;
  }
  zero_mean_ = std::make_unique<ZeroMeanPrecond<T, S>>(ctx_, A_.rows(), M_);
  projected_b_ = Array<T, S>(ctx_, A_.rows());
  Array<T, S> image(ctx_, A_.rows());
  if (A_.rows() > 1 && !zero_mean_->is_null_vector_of(ctx_, A_, projected_b_.span(), image.span())) {
    throw InputError("the matrix does not map the constant vector to zero, so that is not its null space");
  }
  // Symmetric matrices, and others whose columns sum to zero: the image of any vector shows it.
  const auto [constant, length] = zero_mean_->constant_part(ctx_, image.cspan());
  range_has_mean_zero_ = constant <= zero_mean_->rounding * length;
  first.prepare(ctx_, A_, zero_mean_.get());
}

template <class T, Space S>
KrylovSolver<T, S>& SolverChain<T, S>::solver(const std::string& name) {
  auto& entry = solvers_[name];
  if (entry == nullptr) {
    SolverOptions wanted = options_;
    wanted.restart = gmres_cycle_length(options_, A_.rows(), sizeof(T));
    wanted.name = name;
    entry = make_ ? make_(wanted) : make_solver<T, S>(ctx_, A_.rows(), wanted);
  }
  return *entry;
}

// Makes a solver that an earlier one's failure calls for. Where memory does not suffice, what was reached stands.
template <class T, Space S>
bool SolverChain<T, S>::can_make(const std::string& name, SolveReport& whole) {
  try {
    solver(name);
    return true;
  } catch (const OutOfMemory& e) {
    whole.reason += "; " + name + " was not tried: " + e.what();
    return false;
  }
}

template <class T, Space S>
SolveReport SolverChain<T, S>::attempt(const std::string& name, Span<const T, S> b, Span<T, S> x,
                                       const StopCriterion& stop, const ProgressFn& progress) {
  if (zero_mean_ == nullptr) return solver(name).solve(ctx_, A_, M_, b, x, stop, progress);
  zero_mean_->remove_mean(ctx_, x);
  SolveReport report = solver(name).solve(ctx_, A_, zero_mean_.get(), b, x, stop, progress);
  zero_mean_->remove_mean(ctx_, x);
  return report;
}

// |the part of b that no x can produce|, 0 where that is within the tolerance; then projected_b_ holds the rest of b.
template <class T, Space S>
double SolverChain<T, S>::split_off_constant(Span<const T, S> b, const StopCriterion& stop) {
  if (zero_mean_ == nullptr || !range_has_mean_zero_ || b.size == 0) return 0;
  const auto [constant, length] = zero_mean_->constant_part(ctx_, b);
  if (!(constant > std::max(stop.rel_tol * length, stop.abs_tol))) return 0;
  copy<T>(ctx_, b, projected_b_.span());
  zero_mean_->remove_mean(ctx_, projected_b_.span());
  return constant;
}

// An attempt that gives up as `stagnation` where BiCGStab has not found a better residual for long: it may wander for
// as many iterations as there are, and the next solver would get none.
template <class T, Space S>
SolveReport SolverChain<T, S>::patient_attempt(const std::string& name, Span<const T, S> b, Span<T, S> x,
                                               const StopCriterion& stop, const ProgressFn& progress) {
  if (name.find("bicgstab") == std::string::npos) return attempt(name, b, x, stop, progress);
  constexpr int patience = 1000;
  double lowest = INFINITY;
  int lowest_at = 0;
  bool gave_up = false;
  SolveReport report = attempt(name, b, x, stop, [&](const Progress& now) {
    gave_up = false;
    if (progress && !progress(now)) return false;
    if (now.residual < lowest) {
      lowest = now.residual;
      lowest_at = now.iteration;
    }
    gave_up = now.iteration - lowest_at >= patience;
    return !gave_up;
  });
  if (gave_up && report.status == Status::stopped_by_caller) {
    overrule(report, Status::stagnation, "no better residual for " + std::to_string(patience) + " iterations");
  }
  return report;
}

template <class T, Space S>
SolveReport SolverChain<T, S>::solve(Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                     const ProgressFn& progress) {
  const auto start = Clock::now();
  const double outside = split_off_constant(b, stop);
  if (outside > 0) b = projected_b_.cspan();
  const bool several = choice_.order.size() > 1;
  StopCriterion left = stop;
  SolveReport whole;
  double best = INFINITY;
  for (std::size_t k = 0; k < choice_.order.size(); ++k) {
    const std::string& name = choice_.order[k];
    const bool last = k + 1 == choice_.order.size();
    if (k > 0 && !can_make(name, whole)) break;
    if (several) copy<T>(ctx_, Span<const T, S>(x), best_x_.span());
    SolveReport report = last ? attempt(name, b, x, left, progress) : patient_attempt(name, b, x, left, progress);
    if (k == 0) best = report.initial_residual;
    const bool worse = several && !report.converged() && !(report.true_residual <= best);
    if (worse) {
      copy<T>(ctx_, best_x_.cspan(), x);
    } else {
      best = report.true_residual;
    }
    if (k == 0) {
      whole = std::move(report);
    } else {
      append_attempt(whole, std::move(report));
    }
    whole.true_residual = best;
    left.max_iterations = stop.max_iterations - whole.iterations;
    if (stop.time_limit_seconds > 0) {
      left.time_limit_seconds = std::max(stop.time_limit_seconds - seconds_since(start), 1e-9);
    }
    if (!worth_another_solver(whole) || left.max_iterations <= 0) break;
  }
  if (outside > 0) {
    // x is the least-squares solution, as far as it goes: the part that was split off is orthogonal to the rest.
    whole.rhs_norm = std::hypot(whole.rhs_norm, outside);
    whole.true_residual = std::hypot(whole.true_residual, outside);
    if (whole.converged()) {
      overrule(whole, Status::stagnation,
               "the right-hand side has a constant part, which this singular matrix cannot produce");
    }
  }
  return whole;
}

#define X(T, S) template class SolverChain<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail
