// SPDX-License-Identifier: Apache-2.0
/// DirectSolver: A x = b by factors of A, refined until the residual meets the tolerance. Internal.
#pragma once

#include <string>
#include <vector>

#include <newel/solver/batch_solver.hpp>
#include <newel/solver/method.hpp>
#include "solver/direct/system_factors.hpp"
#include "solver/krylov/monitor/convergence_monitor.hpp"

namespace newel {

/// Its line of the table of solvers.
SolverMethod direct_method();

namespace detail {

/// Nothing is believed of factors, whatever library made them: b - A x is formed in twice the precision, and x is
/// refined while that at least halves (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 12.1).
/// If it does not reach the tolerance, other factors take their place. Factors are in double precision, whatever T
/// is. M is not applied.
///
/// Several columns are corrected together the first time, by solves of the library with all of them; then each is
/// judged and refined by itself.
template <class T, Space S>
class DirectSolver final : public KrylovSolver<T, S>, public BatchSolver<T, S> {
 public:
  /// Factorises the matrix. Throws TooLong if that is estimated to take longer than `matrix.most_seconds`, also of
  /// the factors that follow those which meet a zero pivot, and OutOfMemory. A matrix without factors is no error:
  /// its solves say why.
  DirectSolver(const Context<S>& ctx, const SolverMatrix<T, S>& matrix)
      : DirectSolver(ctx, matrix, make_system_factors(ctx, matrix)) {}
  /// The same by factors of this matrix that have no values yet.
  DirectSolver(const Context<S>& ctx, const SolverMatrix<T, S>& matrix, std::unique_ptr<SystemFactors<T, S>> factors);

  std::string_view name() const override { return "direct"; }
  /// A numeric factorisation, which the next solve makes; order and analysis are kept.
  void refresh(const Context<S>& ctx, Span<const T, S> values) override;
  BatchSolver<T, S>* as_batch() override { return this; }
  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;
  [[nodiscard]] std::vector<SolveReport> solve(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                               const LinearOperator<T, S>* M, Span<const T, S> b, Span<T, S> x,
                                               Index columns, const StopCriterion& stop, ColumnProgress& progress,
                                               InitialGuess guess) override;
  using KrylovSolver<T, S>::solve;

 private:
  using Monitor = ConvergenceMonitor<T, S>;

  bool opened(Monitor& monitor, const SolveRequest<T, S>& request, Span<T, S> r);
  SolveReport finished(const Context<S>& ctx, Monitor& monitor, Span<const T, S> first);
  bool refine(const Context<S>& ctx, Monitor& monitor, Span<const T, S> first);
  bool factorise_and_refine(const Context<S>& ctx, Monitor& monitor, Span<const T, S> first);
  bool comes_closest(const Context<S>& ctx, Monitor& monitor);
  void explain(const Context<S>& ctx, SolveReport& report);

  ValueMap<S> source_;             // of the values by rows, in the caller's
  Array<T, S> gathered_;           // new values by rows; of the identity empty
  std::vector<Index> old_of_new_;  // rows in the caller's numbering; empty: the same
  std::unique_ptr<SystemFactors<T, S>> factors_;
  std::string changed_;        // what the next report says of factors that met a zero pivot
  double least_residual_ = 0;  // of every x, as the last solve has found; 0: not known
  Array<T, S> r_, best_, work_;
  Array<T, S> residuals_, corrections_;  // of several columns
  Array<double, S> scratch_;
};

}  // namespace detail
}  // namespace newel
