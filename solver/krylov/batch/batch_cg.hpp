// SPDX-License-Identifier: Apache-2.0
/// CG for several right-hand sides at once: up to eight columns in lockstep, whose products share one read of the
/// matrix. Internal.
#pragma once

#include <memory>
#include <vector>

#include <newel/solver/batch_solver.hpp>
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"

namespace newel::detail {

struct BatchState;

/// Places of a batch that begins with so many columns: the least of 1, 2, 4 and 8 that holds them; 8 for more.
inline int batch_width(Index columns) { return columns > 4 ? 8 : columns > 2 ? 4 : columns > 1 ? 2 : 1; }

/// The iterates of each column are those of `Cg` alone, but for rounding; on the host with the same bits, since sums
/// keep their order. Every column has its own scalars and convergence monitor: one that has ended stops changing,
/// gives its place to the next that waits, and no number of it touches another.
///
/// A batch is as narrow as holds the columns that are left: 8, 4, 2 or 1 places. One that is half empty, with no
/// column waiting, continues with half the places.
///
/// Never in the resident kernel of `Cg`, which holds the vectors of one column.
template <class T, Space S>
class BatchCg final : public BatchSolver<T, S> {
 public:
  /// For systems of `n` unknowns. Vectors are made by the first solve, five of length n for each place, and two more.
  BatchCg(const Context<S>& ctx, Index n);
  ~BatchCg() override;

  std::vector<SolveReport> solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                 Span<const T, S> b, Span<T, S> x, Index columns, const StopCriterion& stop,
                                 ColumnProgress& progress, InitialGuess guess) override;

 private:
  struct Run;
  void reserve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, int width);
  template <int k>
  std::function<void()> iteration(const Context<S>& ctx, const LinearOperator<T, S>& A,
                                  const LinearOperator<T, S>* M);
  std::function<void()> iteration(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  int width);
  void narrow(const Context<S>& ctx, int wide, int narrow, const std::vector<int>& kept);

  Index n_;
  int capacity_ = 0;           ///< places that the vectors have room for
  Array<T, S> r_, z_, p_, q_;  ///< interleaved
  Array<T, S> x_;              ///< likewise
  Array<T, S> column_r_, column_work_;
  Array<char, S> work_;  ///< of the products
  Array<BatchState, S> state_;
  std::vector<IterationGraph<S>> graphs_;  ///< by width: 1, 2, 4, 8
};

}  // namespace newel::detail
