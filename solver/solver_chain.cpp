// SPDX-License-Identifier: Apache-2.0
// Trying solvers in turn.
#include <purlin/solver/solver_chain.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <purlin/core/error.hpp>
#include <purlin/core/instantiate.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/solver/journal.hpp>
#include <purlin/solver/symmetry.hpp>

namespace purlin::detail {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// After these the next solver may do better from the same x.
bool worth_another_solver(const SolveReport& report) {
  switch (report.status) {
    case Status::breakdown:
    case Status::not_positive_definite:
    case Status::stagnation:
    case Status::diverged:
      return true;
    case Status::not_finite:
      return std::isfinite(report.initial_residual);
    default:
      return false;
  }
}

// The last attempt's outcome, seen from outside it.
void overrule(SolveReport& report, Status status, std::string reason) {
  report.status = report.attempts.back().status = status;
  report.reason = report.attempts.back().reason = std::move(reason);
}

// What the attempts call attainable becomes one figure, the residual of the best x. Where another attempt came far
// below what one of them reached, none of them knows.
void settle_attainable(SolveReport& whole) {
  constexpr double agreement = 100;
  bool agreed = true;
  for (const Attempt& attempt : whole.attempts) {
    agreed = agreed && attempt.attainable_residual <= agreement * whole.true_residual;
  }
  for (Attempt& attempt : whole.attempts) {
    if (agreed || attempt.attainable_residual == 0) continue;
    attempt.attainable_residual = 0;
    attempt.reason = stagnation_reason(false, whole.relative(attempt.true_residual));
  }
  if (whole.attainable_residual == 0) return;
  whole.attainable_residual = agreed ? whole.true_residual : 0;
  whole.reason = stagnation_reason(agreed, whole.relative(whole.true_residual));
}

// x is the least-squares solution, as far as it goes: the part of b that was split off is orthogonal to the rest.
void count_part_outside(SolveReport& report, double outside) {
  if (!(outside > 0)) return;
  report.rhs_norm = std::hypot(report.rhs_norm, outside);
  report.true_residual = std::hypot(report.true_residual, outside);
  if (!report.converged()) return;
  overrule(report, Status::stagnation,
           "the right-hand side has a constant part, which this singular matrix cannot produce");
}

}  // namespace

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
  image_ = Array<T, S>(ctx_, A_.rows());
  look_at_null_space();
  first.prepare(ctx_, A_, zero_mean_.get());
}

template <class T, Space S>
void SolverChain<T, S>::look_at_null_space() {
  if (zero_mean_ == nullptr || null_space_known_) return;
  if (A_.rows() > 1 && !zero_mean_->is_null_vector_of(ctx_, A_, projected_b_.span(), image_.span())) {
    throw InputError("the matrix does not map the constant vector to zero, so that is not its null space");
  }
  // Symmetric matrices, and others whose columns sum to zero: the image of any vector shows it.
  const auto [constant, length] = zero_mean_->constant_part(ctx_, image_.cspan());
  range_has_mean_zero_ = constant <= zero_mean_->rounding * length;
  null_space_known_ = true;
}

template <class T, Space S>
KrylovSolver<T, S>& SolverChain<T, S>::solver(const std::string& name) {
  auto& entry = solvers_[name];
  if (entry == nullptr) {
    SolverOptions wanted = options_;
    wanted.restart = gmres_cycle_length(options_, A_.rows(), basis_value_bytes(options_, sizeof(T)));
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

// |the part of b that no x can produce|, 0 where that is within the tolerance; then `projected` holds the rest of b.
template <class T, Space S>
double SolverChain<T, S>::split_off_constant(Span<const T, S> b, const StopCriterion& stop, Span<T, S> projected) {
  if (zero_mean_ == nullptr || !range_has_mean_zero_ || b.size == 0) return 0;
  const auto [constant, length] = zero_mean_->constant_part(ctx_, b);
  if (!(constant > std::max(stop.rel_tol * length, stop.abs_tol))) return 0;
  copy<T>(ctx_, b, projected);
  zero_mean_->remove_mean(ctx_, projected);
  return constant;
}

// An attempt that gives up as `stagnation` where BiCGStab has not found a better residual for long: it may wander for
// as many iterations as there are, and the next solver would get none. CG may wait as long, and longer, on its way;
// but not for a matrix that is not symmetric.
template <class T, Space S>
SolveReport SolverChain<T, S>::patient_attempt(const std::string& name, Span<const T, S> b, Span<T, S> x,
                                               const StopCriterion& stop, const ProgressFn& progress) {
  const bool bicgstab = name.find("bicgstab") != std::string::npos;
  const bool cg = !bicgstab && name.find("cg") != std::string::npos;
  if (!bicgstab && !cg) return attempt(name, b, x, stop, progress);
  constexpr int patience = 1000;
  double lowest = INFINITY;
  int lowest_at = 0;
  bool gave_up = false, known_symmetric = false;
  std::string fault;
  SolveReport report = attempt(name, b, x, stop, [&](const Progress& now) {
    gave_up = false;
    if (progress && !progress(now)) return false;
    if (now.residual < lowest) {
      lowest = now.residual;
      lowest_at = now.iteration;
    }
    if (known_symmetric || now.iteration - lowest_at < patience) return true;
    if (cg) fault = symmetry_fault(ctx_, A_, M_);
    known_symmetric = cg && fault.empty();
    gave_up = !known_symmetric;
    return !gave_up;
  });
  if (gave_up && report.status == Status::stopped_by_caller) {
    const std::string why = "no better residual for " + std::to_string(patience) + " iterations";
    overrule(report, Status::stagnation, cg ? why + ", and " + fault : why);
  }
  return report;
}

template <class T, Space S>
SolveReport SolverChain<T, S>::solve(Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                     const ProgressFn& progress) {
  const auto start = Clock::now();
  look_at_null_space();
  const double outside = split_off_constant(b, stop, projected_b_.span());
  if (outside > 0) b = projected_b_.cspan();
  const std::string& name = choice_.order.front();
  if (has_several()) copy<T>(ctx_, Span<const T, S>(x), best_x_.span());
  SolveReport first =
      has_several() ? patient_attempt(name, b, x, stop, progress) : attempt(name, b, x, stop, progress);
  SolveReport whole = go_on(std::move(first), b, x, stop, progress, start);
  count_part_outside(whole, outside);
  return whole;
}

// From the first solver's report on. x is what it left, best_x_ what it began with.
template <class T, Space S>
SolveReport SolverChain<T, S>::go_on(SolveReport whole, Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                     const ProgressFn& progress, Clock::time_point start) {
  if (const std::optional<SystemUnits> units = units_for(whole, b)) {
    if (whole.iterations > 0 && has_several()) copy<T>(ctx_, best_x_.cspan(), x);
    if (whole.iterations > 0 && !has_several()) fill<T, S>(ctx_, T(0), x);
    StopCriterion left = stop;
    left.max_iterations -= whole.iterations;
    if (stop.time_limit_seconds > 0) {
      left.time_limit_seconds = std::max(stop.time_limit_seconds - seconds_since(start), 1e-9);
    }
    return solve_scaled(std::move(whole), *units, b, x, left, progress);
  }
  double best = whole.initial_residual;
  const auto keep_better = [&](const SolveReport& report) {
    const bool worse = has_several() && !report.converged() && !(report.true_residual <= best);
    if (worse) {
      copy<T>(ctx_, best_x_.cspan(), x);
      if (zero_mean_ != nullptr) zero_mean_->remove_mean(ctx_, x);
    } else {
      best = report.true_residual;
    }
  };
  keep_better(whole);
  whole.true_residual = best;
  StopCriterion left = stop;
  for (std::size_t k = 1; k < choice_.order.size(); ++k) {
    left.max_iterations = stop.max_iterations - whole.iterations;
    if (stop.time_limit_seconds > 0) {
      left.time_limit_seconds = std::max(stop.time_limit_seconds - seconds_since(start), 1e-9);
    }
    if (!worth_another_solver(whole) || left.max_iterations <= 0) break;
    const std::string& name = choice_.order[k];
    const bool last = k + 1 == choice_.order.size();
    if (!can_make(name, whole)) break;
    copy<T>(ctx_, Span<const T, S>(x), best_x_.span());
    SolveReport report = last ? attempt(name, b, x, left, progress) : patient_attempt(name, b, x, left, progress);
    keep_better(report);
    append_attempt(whole, std::move(report));
    whole.true_residual = best;
  }
  settle_attainable(whole);
  return whole;
}

template <class T, Space S>
std::vector<SolveReport> SolverChain<T, S>::solve_columns(Span<const T, S> b, Span<T, S> x, Index columns,
                                                          const StopCriterion& stop, const ProgressFn& progress) {
  const auto start = Clock::now();
  look_at_null_space();
  ColumnProgress shared(progress, columns);
  if (columns > 1 && choice_.order.front() == "cg") return solve_batch(b, x, columns, stop, shared);
  std::vector<SolveReport> reports;
  const std::int64_t n = A_.rows();
  for (Index c = 0; c < columns; ++c) {
    const bool late = c > 0 && stop.time_limit_seconds > 0 && seconds_since(start) > stop.time_limit_seconds;
    StopCriterion left = stop;
    if (c > 0 && stop.time_limit_seconds > 0) {
      left.time_limit_seconds = std::max(stop.time_limit_seconds - seconds_since(start), 1e-9);
    }
    const bool skipped = late || shared.stopped();
    if (skipped) left.max_iterations = 0;
    reports.push_back(solve(b.subspan(c * n, n), x.subspan(c * n, n), left, shared.of(c)));
    if (!skipped || reports.back().status != Status::max_iterations) continue;
    if (late) {
      overrule(reports.back(), Status::time_limit, "the time limit is over");
    } else {
      overrule(reports.back(), Status::stopped_by_caller, "the caller asked to stop");
    }
  }
  return reports;
}

// CG is the first solver.
template <class T, Space S>
std::vector<SolveReport> SolverChain<T, S>::solve_batch(Span<const T, S> b, Span<T, S> x, Index columns,
                                                        const StopCriterion& stop, ColumnProgress& progress) {
  const auto start = Clock::now();
  const std::int64_t n = A_.rows();
  const auto column_of = [n](auto vectors, Index c) { return vectors.subspan(c * n, n); };
  const auto at_least = [this](Array<T, S>& array, std::int64_t size) {
    if (array.size() >= size) return;
    array = Array<T, S>();
    array = Array<T, S>(ctx_, size);
  };
  std::vector<double> outside(static_cast<std::size_t>(columns), 0.0);
  if (has_several()) {
    at_least(guesses_, x.size);
    copy<T>(ctx_, Span<const T, S>(x), guesses_.span().subspan(0, x.size));
  }
  if (zero_mean_ != nullptr) {
    at_least(projected_columns_, b.size);
    const Span<T, S> projected = projected_columns_.span().subspan(0, b.size);
    copy<T>(ctx_, b, projected);
    for (Index c = 0; c < columns; ++c) {
      outside[static_cast<std::size_t>(c)] = split_off_constant(column_of(b, c), stop, column_of(projected, c));
      zero_mean_->remove_mean(ctx_, column_of(x, c));
    }
    b = projected;
  }
  if (batch_ == nullptr) batch_ = std::make_unique<BatchCg<T, S>>(ctx_, A_.rows());
  const LinearOperator<T, S>* const M = zero_mean_ != nullptr ? zero_mean_.get() : M_;
  std::vector<SolveReport> reports = batch_->solve(ctx_, A_, M, b, x, columns, stop, progress);
  for (Index c = 0; c < columns; ++c) {
    SolveReport& report = reports[static_cast<std::size_t>(c)];
    const Span<T, S> x_c = column_of(x, c);
    if (zero_mean_ != nullptr) zero_mean_->remove_mean(ctx_, x_c);
    if (has_several()) copy<T>(ctx_, column_of(guesses_.cspan(), c), best_x_.span());
    report = go_on(std::move(report), column_of(b, c), x_c, stop, progress.of(c), start);
    count_part_outside(report, outside[static_cast<std::size_t>(c)]);
  }
  return reports;
}

#define X(T, S) template class SolverChain<T, S>;
PURLIN_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace purlin::detail
