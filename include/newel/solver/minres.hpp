// SPDX-License-Identifier: Apache-2.0
/// The preconditioned MINRES method, for symmetric A, definite or not.
#pragma once

#include <newel/solver/recurrence_solver.hpp>

namespace newel {

/// Its row in the table of solvers.
SolverMethod minres_method();

/// C. C. Paige and M. A. Saunders, "Solution of Sparse Indefinite Systems of Linear Equations", SIAM J. Numer. Anal.
/// 12 (1975), in the form of H. Elman, D. Silvester and A. Wathen, "Finite Elements and Fast Iterative Solvers",
/// second edition (2014), algorithm 4.1. A must be symmetric; it may be indefinite, or singular if A x = b has a
/// solution. M must be symmetric positive definite. If r.M r <= 0, the solve ends with `not_positive_definite`.
///
/// Every step minimises sqrt(r.M r), without M |r| itself. With M, |r| may grow for a while. r is updated as in S.-C.
/// Choi, C. C. Paige and M. A. Saunders, "MINRES-QLP: A Krylov Subspace Method for Indefinite or Singular Symmetric
/// Systems", SIAM J. Sci. Comput. 33 (2011): the history holds |r|, and convergence is decided by
/// |b - A x|.
///
/// If x grows so far that rounding in A x reaches a tenth of |r|, or if A maps the newest direction to zero, the
/// recurrence restarts with r = b - A x, as long as this reduces |r|; then the solve ends with `stagnation`. Both
/// happen if A is singular or nearly so. A solve that does not converge returns the best x seen, which is updated
/// every 16 iterations.
template <class T, Space S>
class Minres final : public RecurrenceSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: nine of length n.
  Minres(const Context<S>& ctx, Index n);

  std::string_view name() const override { return "minres"; }
};

}  // namespace newel
