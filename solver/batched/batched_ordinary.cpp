// SPDX-License-Identifier: Apache-2.0
// Systems of a batch one after another.
#include "solver/batched/batched_ordinary.hpp"

#include <newel/precond/block_jacobi/block_jacobi_options.hpp>
#include <newel/solver/gmres.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

StopCriterion stop_of(const BatchedOptions& options) {
  StopCriterion stop;
  stop.max_iterations = options.max_iterations;
  stop.rel_tol = options.rel_tol;
  stop.abs_tol = options.abs_tol;
  return stop;
}

SystemOptions ordinary_options(const BatchedOptions& options) {
  SystemOptions result;
  result.solver.name = options.solver;
  result.solver.of<GmresOptions>().restart = options.restart;
  result.precond.name = options.precond;
  result.precond.of<BlockJacobiOptions>().rows = options.block_rows;
  result.stop = stop_of(options);
  return result;
}

// Names in the table live as long as the library.
std::string_view lasting_name(const SolveReport& report) {
  return find_solver(report.method.empty() ? report.solver : report.method).name;
}

}  // namespace

template <class T, Space S>
OrdinarySolves<T, S>::OrdinarySolves(const Context<S>& ctx, const Pattern<S>& pattern, const BatchedOptions& options)
    : ctx_(ctx), pattern_(pattern), options_(ordinary_options(options)) {}

template <class T, Space S>
void OrdinarySolves<T, S>::set_limits(const BatchedOptions& options) {
  options_.stop = stop_of(options);
  if (system_) system_->set_stop_criterion(options_.stop);
}

template <class T, Space S>
void OrdinarySolves<T, S>::set_up(Span<const T, S> values) {
  if (system_) {
    system_->refresh(values);
  } else {
    system_.emplace(ctx_, CsrView<T, S>(pattern_, values), options_);
  }
}

template <class T, Space S>
SolveReport OrdinarySolves<T, S>::solve_plain(Span<const T, S> values, Span<const T, S> b, Span<T, S> x,
                                              InitialGuess guess) {
  system_.reset();
  SystemOptions plain = options_;
  plain.precond.name = "none";
  return LinearSystem<T, S>(ctx_, CsrView<T, S>(pattern_, values), plain).solve(b, x, {}, guess);
}

template <class T, Space S>
BatchedResult OrdinarySolves<T, S>::solve(Span<const T, S> values, Span<const T, S> b, Span<T, S> x,
                                          InitialGuess guess) {
  std::optional<SolveReport> report;
  try {
    set_up(values);
    report = system_->solve(b, x, {}, guess);
  } catch (const InputError&) {  // values that the preconditioner or the solver forbids
    report = solve_plain(values, b, x, guess);
  }
  BatchedResult result;
  result.status = report->status;
  result.cause = report->failure.cause;
  result.solver = lasting_name(*report);
  result.iterations = report->iterations;
  result.rhs_norm = report->rhs_norm;
  result.tolerance = report->tolerance;
  result.initial_residual = report->initial_residual;
  result.true_residual = report->true_residual;
  return result;
}

#define X(T, S) template class OrdinarySolves<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
