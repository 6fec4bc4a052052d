// SPDX-License-Identifier: Apache-2.0
// BatchedSystem: its attempts, and what becomes of them.
#include <newel/solver/batched_system.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

#include <newel/core/error.hpp>
#include "core/memory/context_lock.hpp"
#include "core/vectors/instantiate.hpp"
#include "solver/batched/batched_choices.hpp"
#include "solver/batched/batched_ordinary.hpp"

namespace newel {
namespace detail {
namespace {

/// The host's copy of a pattern.
struct KeptPattern {
  Index rows;
  std::vector<Offset> row_ptr;
  std::vector<Index> col;

  Pattern<Space::host> view() const {
    Pattern<Space::host> result(CsrView<double, Space::host>(rows, rows, Span<const Offset, Space::host>(row_ptr),
                                                             Span<const Index, Space::host>(col), {}));
    return result;
  }
};

template <class T, Space S>
KeptPattern checked_copy(const Context<S>& ctx, const Pattern<S>& pattern) {
  if (pattern.rows != pattern.cols)
    throw InputError("the systems of a batch must be square, not " + std::to_string(pattern.rows) + " x " +
                     std::to_string(pattern.cols));
  check_csr(ctx, CsrView<T, S>(pattern, Span<const T, S>(nullptr, pattern.nnz())));  // reads no value
  KeptPattern kept{pattern.rows, {}, to_vector(ctx, pattern.col)};
  with_row_ptr(pattern, [&](auto row_ptr) {
    const auto copied = to_vector(ctx, row_ptr);
    kept.row_ptr.assign(copied.begin(), copied.end());
  });
  return kept;
}

void check_length(const char* what, std::int64_t size, std::int64_t expected, Index systems) {
  if (size == expected) return;
  throw InputError(std::string(what) + " has " + std::to_string(size) + " values, expected " +
                   std::to_string(expected) + " for " + std::to_string(systems) + " systems");
}

template <class T, Space S>
void check_apart(Span<const T, S> read, Span<T, S> x, const char* what) {
  if (read.size == 0 || x.size == 0 || read.data >= x.data + x.size || x.data >= read.data + read.size) return;
  throw InputError(std::string(what) + " and x share memory");
}

BatchedResult result_of(const BatchedOutcome& outcome) {
  BatchedResult result;
  result.status = outcome.status;
  result.cause = outcome.cause;
  result.solver = batched_methods()[static_cast<std::size_t>(outcome.attempt - 1)].name;
  result.iterations = outcome.iterations;
  result.rhs_norm = outcome.rhs_norm;
  result.tolerance = outcome.tolerance;
  result.initial_residual = outcome.initial_residual;
  result.true_residual = outcome.true_residual;
  return result;
}

}  // namespace
}  // namespace detail

Failure BatchedResult::failure() const {
  Failure result;
  result.cause = cause;
  result.level = rhs_norm > 0 ? true_residual / rhs_norm : true_residual;
  result.iterations = iterations;
  if (cause == Cause::not_finite_input || cause == Cause::norm_overflows || cause == Cause::norm_underflows)
    result.subject = Subject::right_hand_side;
  return result;
}

bool BatchedReport::converged() const {
  return std::all_of(systems.begin(), systems.end(), [](const BatchedResult& result) { return result.converged(); });
}

template <class T, Space S>
struct BatchedSystem<T, S>::Impl {
  Context<S> ctx;
  detail::KeptPattern pattern;
  BatchedOptions options;
  detail::BatchedChoices choices;
  detail::BatchedWork<T, S> work;
  detail::BatchedOutcomes<S> outcomes;
  Array<unsigned char, S> is_definite;
  Array<Offset, S> row_ptr;  // for ordinary solves
  Array<Index, S> col;
  std::optional<detail::OrdinarySolves<T, S>> ordinary;

  Impl(const Context<S>& ctx_, const Pattern<S>& pattern_, BatchedOptions options_)
      : ctx(ctx_),
        pattern(detail::checked_copy<T>(ctx, pattern_)),
        options(std::move(options_)),
        choices(detail::choose(host_context(ctx), pattern.view(), options)),
        work(ctx, pattern.view(), choices.limits, choices.needs) {}

  bool fits() const { return options.together && work.fits(); }

  void solve_together(detail::BatchedProblem<T> problem, BatchedReport& report) {
    const Index systems = problem.systems;
    if (is_definite.size() < systems) is_definite = Array<unsigned char, S>(ctx, systems);
    outcomes.reserve(ctx, systems);
    work.reserve(systems);
    problem.outcome = outcomes.in_space();
    problem.reported = outcomes.reported();
    problem.is_definite = is_definite.data();
    if (choices.marks_definite()) work.mark_definite(problem, is_definite.data());
    for (const detail::PlannedAttempt& attempt : choices.attempts) {
      problem.filter = attempt.filter;
      problem.attempt = attempt.method + 1;
      const detail::BatchedMethod& method = detail::batched_methods()[static_cast<std::size_t>(attempt.method)];
      method.attempt.template get<T, S>()(work, problem);
    }
    report.systems.resize(static_cast<std::size_t>(systems));  // takes its memory while a device computes
    const Span<const detail::BatchedOutcome, Space::host> results = outcomes.read(ctx, systems);
    std::transform(results.data, results.data + systems, report.systems.begin(), detail::result_of);
  }

  void solve_in_turn(const detail::BatchedProblem<T>& problem, BatchedReport& report) {
    if (!ordinary) {
      row_ptr = make_array(ctx, pattern.row_ptr);
      col = make_array(ctx, pattern.col);
      const CsrView<T, S> view(pattern.rows, pattern.rows, row_ptr.cspan(), col.cspan(), {});
      ordinary.emplace(ctx, Pattern<S>(view), options);
    }
    const InitialGuess guess = problem.zero_guess ? InitialGuess::zero : InitialGuess::in_x;
    report.systems.reserve(static_cast<std::size_t>(problem.systems));
    for (Index s = 0; s < problem.systems; ++s) {
      const std::int64_t at = std::int64_t{s} * problem.rows;
      report.systems.push_back(ordinary->solve({problem.values + s * problem.nonzeros, problem.nonzeros},
                                               {problem.b + at, problem.rows}, {problem.x + at, problem.rows},
                                               guess));
    }
  }
};

template <class T, Space S>
BatchedSystem<T, S>::BatchedSystem(const Context<S>& ctx, const Pattern<S>& pattern, BatchedOptions options) {
  detail::lock_of(ctx)->require_free();
  ctx.make_current();
  impl_ = std::make_unique<Impl>(ctx, pattern, std::move(options));
}
template <class T, Space S>
BatchedSystem<T, S>::~BatchedSystem() = default;
template <class T, Space S>
BatchedSystem<T, S>::BatchedSystem(BatchedSystem&&) noexcept = default;
template <class T, Space S>
BatchedSystem<T, S>& BatchedSystem<T, S>::operator=(BatchedSystem&&) noexcept = default;

template <class T, Space S>
Index BatchedSystem<T, S>::rows() const {
  return impl_->pattern.rows;
}
template <class T, Space S>
Offset BatchedSystem<T, S>::nonzeros() const {
  return static_cast<Offset>(impl_->pattern.col.size());
}
template <class T, Space S>
bool BatchedSystem<T, S>::fits() const {
  return impl_->fits();
}

template <class T, Space S>
void BatchedSystem<T, S>::set_limits(double rel_tol, double abs_tol, int max_iterations) {
  detail::check_limits(rel_tol, abs_tol, max_iterations);
  Impl& s = *impl_;
  s.options.rel_tol = s.choices.limits.rel_tol = rel_tol;
  s.options.abs_tol = s.choices.limits.abs_tol = abs_tol;
  s.options.max_iterations = s.choices.limits.max_iterations = max_iterations;
  if (s.ordinary) s.ordinary->set_limits(s.options);
}

template <class T, Space S>
BatchedReport BatchedSystem<T, S>::solve(Index systems, Span<const T, S> values, Span<const T, S> b, Span<T, S> x,
                                         InitialGuess guess) {
  const auto begin = std::chrono::steady_clock::now();
  Impl& s = *impl_;
  detail::lock_of(s.ctx)->require_free();
  s.ctx.make_current();
  if (systems < 0) throw InputError("the number of systems must be 0 or more, not " + std::to_string(systems));
  detail::check_length("values", values.size, systems * nonzeros(), systems);
  detail::check_length("b", b.size, std::int64_t{systems} * rows(), systems);
  detail::check_length("x", x.size, std::int64_t{systems} * rows(), systems);
  detail::check_apart(values, x, "values");
  detail::check_apart(b, x, "b");
  BatchedReport report;
  report.together = s.fits();
  detail::BatchedProblem<T> problem{};
  problem.systems = systems;
  problem.rows = rows();
  problem.nonzeros = nonzeros();
  problem.values = values.data;
  problem.b = b.data;
  problem.x = x.data;
  problem.zero_guess = guess == InitialGuess::zero;
  problem.limits = s.choices.limits;
  problem.fresh = !s.choices.marks_definite();
  if (systems > 0) report.together ? s.solve_together(problem, report) : s.solve_in_turn(problem, report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

#define X(T, S) template class BatchedSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
