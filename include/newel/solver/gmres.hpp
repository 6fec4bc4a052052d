// SPDX-License-Identifier: Apache-2.0
/// Restarted GMRES, for any square A.
#pragma once

#include <newel/solver/recurrence_solver.hpp>

namespace newel {

/// The options of GMRES.
struct GmresOptions {
  int restart = 0;            ///< iterations per cycle; 0: see `gmres_cycle_length`
  bool left = false;          ///< precondition from the left
  bool single_basis = false;  ///< store the basis in single precision; see Gmres
};

/// Iterations per cycle for n unknowns: `restart`, or 50 if that is 0. Under "auto", GMRES is used after another
/// method has failed: a cycle then has as many vectors as fit into a basis of 16 MB, at least 50. `value_bytes` is
/// the size of one value of the basis. Never more than n. Throws InputError for a negative restart.
int gmres_cycle_length(const SolverOptions& options, Index n, std::size_t value_bytes);

/// Bytes of one value of the basis, for work vectors with `value_bytes` per value.
std::size_t basis_value_bytes(const SolverOptions& options, std::size_t value_bytes);

/// Its row in the table of solvers.
SolverMethod gmres_method();

/// Y. Saad and M. Schultz, "GMRES: A Generalized Minimal Residual Algorithm for Solving Nonsymmetric Linear Systems",
/// SIAM J. Sci. Stat. Comput. 7 (1986), with Givens rotations and classical Gram-Schmidt.
///
/// A second Gram-Schmidt pass runs if the basis would otherwise lose orthogonality beyond 1e-3. A smaller loss hardly
/// affects the residual estimate (`detail::Orthogonality`; L. Giraud, J. Langou, M. Rozloznik, "The loss of
/// orthogonality in the Gram-Schmidt orthogonalization process", Comput. Math. Appl. 50 (2005)). If a true residual
/// is ten times the estimate of the recurrence, or a cycle made no progress, later cycles apply a stricter rule. They
/// run the second pass whenever less than 0.7 of a vector's norm remains.
///
/// The true residual is computed at each restart. Two restarts without progress end with `stagnation`, or with
/// `diverged` if the residual has grown above 100 max(|b|, |b - A x0|). A solve that does not converge returns the
/// best x of those between cycles.
///
/// The basis may be stored in single precision (B = float, T = double), which halves the data that Gram-Schmidt reads
/// (J. Aliaga, H. Anzt, T. Gruetzmacher, E. Quintana-Orti, A. Tomas, "Compressed basis GMRES on high-performance
/// graphics processing units", Int. J. High Perform. Comput. Appl. 37 (2023)). Products use the rounded vectors of
/// the basis. A cycle ends after gaining five digits, because its estimate would then be dominated by rounding.
/// Convergence is still decided by the true residual in T. This saves memory rather than time: rounding the basis
/// brings the loss of orthogonality near the limit, so the second pass runs more often (docs/performance.md compares
/// the times).
///
/// Right preconditioning by default, so the recurrence holds the unpreconditioned residual. With left preconditioning
/// the history holds |M r|; the true residual still decides convergence.
template <class T, Space S, class B = T>
class Gmres final : public RecurrenceSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: restart + 1 of length n in B, and four in T, or five if B is not T. A cycle has
  /// at most n iterations. `recycled`: up to as many vectors of earlier solves may be used (RecycleOptions), half of
  /// a cycle at most; each takes another vector in B. Throws InputError for a restart below 1.
  Gmres(const Context<S>& ctx, Index n, int restart, bool left, int recycled = 0);

  std::string_view name() const override { return "gmres"; }
  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;
};

}  // namespace newel
