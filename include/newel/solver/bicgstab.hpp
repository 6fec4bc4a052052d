// SPDX-License-Identifier: Apache-2.0
/// The preconditioned BiCGStab method, for any square A.
#pragma once

#include <newel/solver/recurrence_solver.hpp>

namespace newel {

/// The options of BiCGStab.
struct BicgstabOptions {
  bool resident = true;  ///< on a device: iterate in one kernel if the system fits on the chip
};

/// Its row in the table of solvers.
SolverMethod bicgstab_method();

/// H. van der Vorst, "Bi-CGSTAB: A Fast and Smoothly Converging Variant of Bi-CG", SIAM J. Sci. Stat. Comput. 13
/// (1992), with right preconditioning. If |rho| < eps |r0||r| or omega vanishes, it restarts with r0 = r = b - A x,
/// at most five times; then it ends with `breakdown`. A solve that does not converge returns the best x seen. The
/// best x is updated every 16 iterations, because residuals of BiCGStab jump.
///
/// On a device, one kernel runs all iterations (`SolveReport::resident`) under the conditions listed at `Cg`, with
/// SPAI instead of FSAI; the iterates are the same up to rounding. SPAI's M must be in EHYB with the parts and node
/// blocks of A, without extra or long rows. If M has the pattern of A, it is in this form if A is.
///
/// Each part stores six values per row and four per halo row in shared memory; with a diagonal preconditioner eight
/// and six, with SPAI seven and five. In double precision that is about 2,300 rows per multiprocessor, or 3,200 in
/// CSR. The kernel also allocates four packets per row, eight with SPAI; half as many in single precision. In CSR it
/// allocates one vector instead.
template <class T, Space S>
class Bicgstab final : public RecurrenceSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: eight of length n. `resident`: whether one kernel may solve systems that fit on
  /// the chip.
  Bicgstab(const Context<S>& ctx, Index n, bool resident = true);

  std::string_view name() const override { return "bicgstab"; }
  void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) override;
};

}  // namespace newel
