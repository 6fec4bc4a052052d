// SPDX-License-Identifier: Apache-2.0
/// Flexible GMRES, for any square A, with a preconditioner that may change from iteration to iteration.
#pragma once

#include <newel/solver/recurrence_solver.hpp>

namespace newel {

/// Its row in the table of solvers. It shares the option `GmresOptions::restart` with GMRES.
SolverMethod fgmres_method();

/// Y. Saad, "A Flexible Inner-Outer Preconditioned GMRES Algorithm", SIAM J. Sci. Comput. 14 (1993), restarted. It is
/// right-preconditioned `Gmres` that also keeps the preconditioned vectors z_j = M v_j, and corrects x by them. M may
/// therefore be another operator in every application, for example a few iterations of a Krylov method. GMRES
/// corrects x by M (V y), which is wrong then. If M does not change, the iterates are those of GMRES up to rounding.
///
/// An M that changes is the caller's operator (`SystemParts`, or the argument M of `solve`). If its applications must
/// not be replayed as a graph on a device, `LinearOperator::capturable` of it must be false. Everything else is as in
/// `Gmres`: the second Gram-Schmidt pass, restarts, and how a solve ends.
template <class T, Space S>
class Fgmres final : public RecurrenceSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: 2 restart + 5 of length n. A cycle has at most n iterations. Throws InputError
  /// for a restart below 1.
  Fgmres(const Context<S>& ctx, Index n, int restart);

  std::string_view name() const override { return "fgmres"; }
};

}  // namespace newel
