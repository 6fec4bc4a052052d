// SPDX-License-Identifier: Apache-2.0
/// The preconditioned conjugate gradient method, for symmetric positive definite A and M.
#pragma once

#include <purlin/solver/krylov.hpp>

namespace purlin {

namespace detail {
struct CgState;
}

/// Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, algorithm 9.1. The residual is the
/// unpreconditioned one. Ends with `not_positive_definite` where p.Ap <= 0 (the matrix) or r.Mr <= 0 (the
/// preconditioner), x being the last sound iterate.
template <class T, Space S>
class Cg final : public KrylovSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: four of length n.
  Cg(const Context<S>& ctx, Index n);

  std::string_view name() const override { return "cg"; }
  [[nodiscard]] SolveReport solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress = {}) override;

 private:
  Array<T, S> r_, z_, p_, q_;
  Array<detail::CgState, S> state_;
  int last_iterations_ = 0;  // of the last solve
};

}  // namespace purlin
