// SPDX-License-Identifier: Apache-2.0
/// The preconditioned BiCGStab method, for any square A.
#pragma once

#include <purlin/solver/iteration_graph.hpp>
#include <purlin/solver/krylov.hpp>

namespace purlin {

namespace detail {
struct BicgstabState;
}

/// H. van der Vorst, "Bi-CGSTAB: A Fast and Smoothly Converging Variant of Bi-CG", SIAM J. Sci. Stat. Comput. 13
/// (1992), with right preconditioning. Where |rho| < eps |r0||r| or omega vanishes it starts again with r0 = r = b -
/// A x, at most five times, then ends with `breakdown`. Of a solve that does not converge the best x seen is
/// returned; it is looked for every 16 iterations, since its residuals jump.
template <class T, Space S>
class Bicgstab final : public KrylovSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: eight of length n.
  Bicgstab(const Context<S>& ctx, Index n);

  std::string_view name() const override { return "bicgstab"; }
  [[nodiscard]] SolveReport solve(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
                                  Span<const T, S> b, Span<T, S> x, const StopCriterion& stop,
                                  const ProgressFn& progress = {}) override;

 private:
  Array<T, S> r_, r0_, p_, v_, t_, ph_, sh_, best_x_;
  Array<detail::BicgstabState, S> state_;
  detail::IterationGraph<S> graph_;
  int last_iterations_ = 0;  // of the last solve
};

}  // namespace purlin
