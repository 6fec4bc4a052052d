// SPDX-License-Identifier: Apache-2.0
/// The preconditioned BiCGStab method, for any square A.
#pragma once

#include <memory>

#include <newel/solver/method.hpp>

namespace newel {

namespace detail {
template <class T, Space S>
class BicgstabRecurrence;
}  // namespace detail

/// The options of BiCGStab.
struct BicgstabOptions {
  bool resident = true;  ///< on a device: in one kernel where the system fits on the chip
};

/// Its line of the table of solvers.
SolverMethod bicgstab_method();

/// H. van der Vorst, "Bi-CGSTAB: A Fast and Smoothly Converging Variant of Bi-CG", SIAM J. Sci. Stat. Comput. 13
/// (1992), with right preconditioning. Where |rho| < eps |r0||r| or omega vanishes it starts again with r0 = r = b -
/// A x, at most five times, then ends with `breakdown`. Of a solve that does not converge the best x seen is
/// returned; it is updated every 16 iterations, because its residuals jump.
///
/// On a device, one kernel makes all iterations (`SolveReport::resident`: the same iterates but for rounding) under
/// the conditions that `Cg` names, with SPAI in the place of FSAI: its M has to be an EHYB matrix of A's parts and of
/// A's node blocks, without extra or long rows. On the pattern of A it is one where A is. Each part's share of the
/// vectors is six values for each of its rows and four for each row of its halo, with a diagonal preconditioner
/// eight and six, with SPAI seven and five: in double precision some 2,300 rows a multiprocessor, in CSR 3,200. It
/// also holds four words for each row, with SPAI eight, and half as many in single precision; in CSR a vector.
template <class T, Space S>
class Bicgstab final : public KrylovSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: eight of length n. `resident`: whether one kernel may solve what fits on the
  /// chip.
  Bicgstab(const Context<S>& ctx, Index n, bool resident = true);
  Bicgstab(Bicgstab&&) noexcept;
  Bicgstab& operator=(Bicgstab&&) noexcept;
  ~Bicgstab() override;

  std::string_view name() const override { return "bicgstab"; }
  void prepare(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M) override;
  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;

 private:
  std::unique_ptr<detail::BicgstabRecurrence<T, S>> recurrence_;
  int last_iterations_ = 0;  // of the last solve
};

}  // namespace newel
