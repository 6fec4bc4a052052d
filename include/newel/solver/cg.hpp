// SPDX-License-Identifier: Apache-2.0
/// The preconditioned conjugate gradient method, for symmetric positive definite A and M.
#pragma once

#include <memory>

#include <newel/solver/method.hpp>

namespace newel {

namespace detail {
template <class T, Space S>
class CgRecurrence;
}  // namespace detail

/// The options of CG.
struct CgOptions {
  bool resident = true;  ///< on a device: in one kernel where the system fits on the chip
};

/// Its line of the table of solvers.
SolverMethod cg_method();

/// Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, algorithm 9.1. The residual is the
/// unpreconditioned one. Ends with `not_positive_definite` where p.Ap <= 0 (the matrix) or r.Mr <= 0 (the
/// preconditioner), x being the last sound iterate.
///
/// Where the residual grows to 100 times max(|b|, |b - A x0|), products with two vectors test whether A and M are
/// symmetric, for which a few vectors are allocated. Where one of them is not, the solve ends with `diverged`; else
/// the residual may grow to 1 / eps times that. x is then the iterate of least residual since the start, or since the
/// last replacement of the residual: it is computed again.
///
/// On a device, one kernel makes all iterations (`SolveReport::resident`: the same iterates but for rounding, in the
/// form of Chronopoulos and Gear, J. Comput. Appl. Math. 25, 1989) where
///
/// - the matrix is an EHYB matrix without extra or long rows, of at most as many parts as there are multiprocessors,
/// or a CSR matrix by our own product, whose rows are too short to be cut (`csr_uncut_row`);
/// - the preconditioner is diagonal (`LinearOperator::diagonal`), there is none, or it is FSAI whose factors are EHYB
/// matrices of the same parts, without extra or long rows;
/// - each part's share of the vectors fits into shared memory: seven values for each of its rows and five for each
/// row of its halo, with FSAI six and four, in double precision some 2,700 rows a multiprocessor, in CSR, which has
/// no halo, 3,600;
/// - the device supports cooperative launch.
///
/// It also holds four packets for each row, with FSAI eight, and half as many in single precision; in CSR a vector.
template <class T, Space S>
class Cg final : public KrylovSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: five of length n. `resident`: whether one kernel may solve what fits on the chip.
  Cg(const Context<S>& ctx, Index n, bool resident = true);
  Cg(Cg&&) noexcept;
  Cg& operator=(Cg&&) noexcept;
  ~Cg() override;

  std::string_view name() const override { return "cg"; }
  void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) override;
  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;

  /// Queues `iterations` steps from the guess in x and returns: nothing is waited for or read back, and the call may
  /// stand inside the caller's own capture of the context's stream, where A and M allow that. x receives what `solve`
  /// gives by separate kernels (`resident` false) with as many `max_iterations` and tolerances of 0, while the
  /// residual does not grow to 100 times its start. Steps behind a residual that vanished, or behind a breakdown,
  /// change nothing; how good x is the caller has to find out.
  ///
  /// A captured call refers to the solver, A, M, b and x, which must stay where they are while their values may
  /// change. It is launched on the context's stream or while no other work of the solver and the context is under
  /// way. Throws InputError for lengths that do not fit and a negative count.
  void iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
               Span<const T, S> b, Span<T, S> x, int iterations);

 private:
  std::unique_ptr<detail::CgRecurrence<T, S>> recurrence_;
  int last_iterations_ = 0;  // of the last solve
};

}  // namespace newel
