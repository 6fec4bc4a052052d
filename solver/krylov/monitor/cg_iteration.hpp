// SPDX-License-Identifier: Apache-2.0
/// CgIteration: the vectors, the scalars and the steps of CG in separate kernels. What is done between the steps is
/// the business of a solve: `Cg`, `MixedCg`. Internal.
#pragma once

#include <functional>

#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"

namespace newel::detail {

struct CgState;

/// Of the last step: rho = r.M r before it, and its length along p.
struct CgScalars {
  double rho = 0, alpha = 0;
};

/// A recurrence begins with r, p = 0, the state and `first_rho`; then come steps; `finish` ends it.
template <class T, Space S>
class CgIteration {
 public:
  using Step = std::function<void()>;

  /// Four vectors of length n.
  CgIteration(const Context<S>& ctx, Index n);

  Span<T, S> r() { return r_; }
  Span<T, S> p() { return p_; }  ///< the direction
  Span<T, S> q() { return q_; }  ///< A p; holds nothing between a step and the next
  CgState* state() { return state_.data(); }
  /// Of the first iterations of a solve, by their number.
  Span<CgCoefficients, S> coefficients() { return coefficients_; }
  double* scratch();

  /// A step with these, which have to outlive it; x is where it adds alpha p. Graphs of others are dropped.
  [[nodiscard]] Step bind(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                          Span<T, S> x);

  /// From r, whose norm is `residual`.
  void begin(const Context<S>& ctx, const LinearOperator<T, S>* M, const MonitorState& monitor, double residual);
  /// The same in the middle of a recurrence: from r, p and the scalars of the last step, which x has in full.
  void resume(const Context<S>& ctx, const LinearOperator<T, S>* M, const MonitorState& monitor, double residual,
              const CgScalars& last);
  /// The part of it that depends on M, for those who leave p and write the state themselves.
  void first_rho(const Context<S>& ctx, const LinearOperator<T, S>* M);
  void repeat(int count, const Step& step) { graph_.repeat(count, step); }
  /// x += alpha p: what the next step would have done.
  void finish(const Context<S>& ctx, Span<T, S> x);
  /// After `finish`, for a recurrence that goes on: the next step does not add alpha p again. The scalars of the last
  /// one.
  CgScalars pause(const Context<S>& ctx);

  /// `count` steps from x, of which the host sees nothing: see `Cg::iterate`.
  void iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
               Span<const T, S> b, Span<T, S> x, int count);

 private:
  Array<T, S> r_, z_, p_, q_;
  Array<CgState, S> state_;
  Array<CgCoefficients, S> coefficients_;
  IterationGraph<S> graph_;
};

/// A recurrence in the history of a solve: its first residual and its last; -1 for the present one.
struct CgHistory {
  int begin = 0, end = -1;
};

/// x = the iterate of least residual of a recurrence that began with `start`, computed again: iterates are not kept
/// on the way, which would cost every solve, and those of one that diverged are few. x = `start` where that is the
/// best.
template <class T, Space S>
void return_to_best(CgIteration<T, S>& cg, const SolveRequest<T, S>& system, ConvergenceMonitor<T, S>& convergence,
                    Span<const T, S> start, const CgHistory& recurrence);

}  // namespace newel::detail
