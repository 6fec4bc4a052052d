// SPDX-License-Identifier: Apache-2.0
/// Restarted GMRES, for any square A.
#pragma once

#include <memory>

#include <newel/solver/method.hpp>

namespace newel {

namespace detail {
template <class T, Space S, class B>
class GmresRecurrence;
}  // namespace detail

/// The options of GMRES.
struct GmresOptions {
  int restart = 0;            ///< length of a cycle; 0: see `gmres_cycle_length`
  bool left = false;          ///< precondition from the left
  bool single_basis = false;  ///< the basis is kept in single precision; see Gmres
};

/// The length of a cycle that the options mean for n unknowns: `restart`, or where that is 0, 50; under "auto", where
/// GMRES comes in for systems that another method has failed on, as many as a basis of 16 MB holds and at least 50.
/// `value_bytes` are those of a value of the basis. Never more than n. Throws InputError for a negative restart.
int gmres_cycle_length(const SolverOptions& options, Index n, std::size_t value_bytes);

/// Bytes of a value of the basis for vectors of `value_bytes` each.
std::size_t basis_value_bytes(const SolverOptions& options, std::size_t value_bytes);

/// Its line of the table of solvers.
SolverMethod gmres_method();

/// Y. Saad and M. Schultz, "GMRES: A Generalized Minimal Residual Algorithm for Solving Nonsymmetric Linear Systems",
/// SIAM J. Sci. Stat. Comput. 7 (1986), with Givens rotations and classical Gram-Schmidt; a second pass runs where
/// the basis would lose orthogonality beyond 1e-3, which the residual estimate hardly sees
/// (`detail::Orthogonality`; L. Giraud, J. Langou, M. Rozloznik, "The loss of orthogonality in the Gram-Schmidt
/// orthogonalization process", Comput. Math. Appl. 50 (2005)). Where a true residual is ten times what the recurrence
/// said, or a cycle gained nothing, later cycles run it wherever less than 0.7 of a vector is left. The true residual
/// is formed at each restart; two restarts without gain end with `stagnation`, or with `diverged` where the residual
/// has become more than 100 times max(|b|, |b - A x0|). Of a solve that does not converge the best x is returned of
/// those between cycles.
///
/// The basis may be kept in single precision, B = float under T = double, which halves what Gram-Schmidt reads (J.
/// Aliaga, H. Anzt, T. Gruetzmacher, E. Quintana-Orti, A. Tomas, "Compressed basis GMRES on high-performance graphics
/// processing units", Int. J. High Perform. Comput. Appl. 37 (2023)). The products take the vectors as the basis
/// holds them, and a cycle ends where it has gained five digits: beyond, its estimate would be of rounding. The true
/// residual decides, in T, as ever. That saves memory rather than time: rounding V brings its loss of orthogonality
/// near the limit, so that the second pass runs more often (docs/performance.md has the times of both).
///
/// Preconditioned from the right, so that the recurrence holds the unpreconditioned residual. From the left on
/// request: the history then holds |M r|, and the true residual decides.
template <class T, Space S, class B = T>
class Gmres final : public KrylovSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: restart + 1 of length n in B, and four in T, or five where B is not T. The cycle
  /// is no longer than n. Throws InputError for a restart below 1.
  Gmres(const Context<S>& ctx, Index n, int restart, bool left);
  Gmres(Gmres&&) noexcept;
  Gmres& operator=(Gmres&&) noexcept;
  ~Gmres() override;

  std::string_view name() const override { return "gmres"; }
  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;

 private:
  std::unique_ptr<detail::GmresRecurrence<T, S, B>> recurrence_;
  int last_iterations_ = 0;  // of the last solve
};

}  // namespace newel
