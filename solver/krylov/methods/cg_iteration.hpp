// SPDX-License-Identifier: Apache-2.0
/// CgIteration: the vectors, the scalars and the steps of CG in separate kernels. What is done between the steps is
/// the business of a solve: `Cg`, `MixedCg`. Internal.
#pragma once

#include <optional>

#include <newel/spmv/operator.hpp>
#include "solver/krylov/steps/cg_steps.hpp"
#include "solver/krylov/steps/iteration_graph.hpp"
#include "spmv/published_product.hpp"

namespace newel::detail {

/// A recurrence begins with r, p = 0, the state and `first_rho`; then come steps; `finish` ends it.
template <class T, Space S>
class CgIteration {
 public:
  /// Four vectors of length n.
  CgIteration(const Context<S>& ctx, Index n);

  Span<T, S> r() { return r_; }
  Span<T, S> p() { return p_; }  ///< the direction
  Span<T, S> q() { return q_; }  ///< A p; holds nothing between a step and the next
  CgState* state() { return state_.data(); }
  /// Of the first iterations of a solve, by their number.
  Span<CgCoefficients, S> coefficients() { return coefficients_; }

  /// What the steps work with, which has to outlive them; x is where they add alpha p. Graphs of others are dropped.
  void bind(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M, Span<T, S> x);

  /// From r, whose norm is `residual`.
  void begin(const MonitorState& monitor, double residual);
  /// The same in the middle of a recurrence: from r, p and the scalars of the last step, which x has in full.
  void resume(const MonitorState& monitor, double residual, const CgScalars& last);
  /// The part of it that depends on M, for those who leave p and write the state themselves.
  void first_rho();
  void repeat(int count);
  /// x += alpha p: what the next step would have done.
  void finish();
  /// After `finish`, for a recurrence that goes on: the next step does not add alpha p again. The scalars of the last
  /// one.
  CgScalars pause();

  /// `count` steps from x, of which the host sees nothing: see `Cg::iterate`.
  void iterate(Span<const T, S> b, int count);

 private:
  struct Bound {
    const Context<S>& ctx;
    const LinearOperator<T, S>& A;
    const LinearOperator<T, S>* M;
    Span<T, S> x;
    const T* D;                            ///< the diagonal of M, or null
    const PublishedProduct<T>* published;  ///< products of A with a p that is sent while it is made, or null
  };
  template <bool diagonal>
  void step();

  Array<T, S> r_, z_, p_, q_;
  Array<CgState, S> state_;
  Array<CgCoefficients, S> coefficients_;
  std::optional<Bound> bound_;
  IterationGraph<S> graph_;
};

}  // namespace newel::detail
