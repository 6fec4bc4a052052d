// SPDX-License-Identifier: Apache-2.0
/// The preconditioned conjugate gradient method, for symmetric positive definite A and M.
#pragma once

#include <newel/solver/recurrence_solver.hpp>

namespace newel {

/// The options of CG.
struct CgOptions {
  bool resident = true;  ///< on a device: iterate in one kernel if the system fits on the chip
};

/// Its row in the table of solvers.
SolverMethod cg_method();

/// Y. Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition, algorithm 9.1. The residual is
/// unpreconditioned. Ends with `not_positive_definite` if p.Ap <= 0 (the matrix) or r.Mr <= 0 (the preconditioner); x
/// is then the last valid iterate.
///
/// If the residual grows to 100 max(|b|, |b - A x0|), products with two vectors test whether A and M are symmetric;
/// this allocates a few vectors. If one of them is not symmetric, the solve ends with `diverged`. Otherwise the
/// residual may grow to 1 / eps times that value. x is then the iterate with the smallest residual since the start,
/// or since the last residual replacement; it is computed again.
///
/// On a device, one kernel runs all iterations (`SolveReport::resident`) if the conditions below hold. It uses the
/// form of Chronopoulos and Gear, J. Comput. Appl. Math. 25, 1989; the iterates are the same up to rounding.
///
/// - The matrix is in EHYB without extra or long rows, with at most as many parts as the device has multiprocessors.
/// Or it is in CSR with Newel's own product, and its rows are too short to be split (`csr_uncut_row`).
/// - There is no preconditioner, it is diagonal (`LinearOperator::diagonal`), or it is FSAI whose factors are EHYB
/// matrices with the same parts, without extra or long rows.
/// - The vectors of each part fit into shared memory: seven values per row and five per halo row, with FSAI six and
/// four. In double precision that is about 2,700 rows per multiprocessor, or 3,600 in CSR, which has no halo.
/// - The device supports cooperative launch.
///
/// This kernel also allocates four packets per row, eight with FSAI; half as many in single precision. In CSR it
/// allocates one vector instead.
template <class T, Space S>
class Cg final : public RecurrenceSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: five of length n. `resident`: whether one kernel may solve systems that fit on
  /// the chip.
  Cg(const Context<S>& ctx, Index n, bool resident = true);

  std::string_view name() const override { return "cg"; }
  void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) override;
  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;

  /// Queues `iterations` steps from the guess in x and returns; it neither waits nor reads anything back. If A and M
  /// allow it, the call may be part of the caller's capture of the context's stream. x receives the result of `solve`
  /// by separate kernels (`resident` false) with `iterations` as `max_iterations` and tolerances of 0, as long as the
  /// residual stays below 100 times its start. Steps after the residual has become zero, or after a breakdown, change
  /// nothing. The accuracy of x is not checked.
  ///
  /// A captured call refers to the solver, A, M, b and x. Their addresses must not change; their values may. Launch
  /// the graph on the context's stream, or while no other work of the solver and the context is running. Throws
  /// InputError if lengths do not fit or the count is negative.
  void iterate(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M,
               Span<const T, S> b, Span<T, S> x, int iterations);
};

}  // namespace newel
