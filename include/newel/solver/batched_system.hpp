// SPDX-License-Identifier: Apache-2.0
/// BatchedSystem: many small systems of one pattern and different values, solved together.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/csr.hpp>
#include <newel/solver/krylov.hpp>

namespace newel {

/// What a BatchedSystem does with each of its systems.
struct BatchedOptions {
  /// "cg", "bicgstab", "gmres" or "auto". With "auto", systems that are symmetric up to rounding with a positive
  /// diagonal use CG, all others BiCGStab. Systems that fail with one solver are tried with the next: CG, BiCGStab,
  /// GMRES.
  std::string solver = "auto";
  /// "none", "jacobi", "block-jacobi", "fsai" or "ilu". A diagonal entry without a finite inverse counts as 1, and of
  /// a singular block the diagonal is inverted instead.
  ///
  /// "ilu": incomplete factors on the pattern, ILU(0) (Saad, algorithm 10.4), in the order of the pattern; pivots
  /// without a finite inverse count as 1. "fsai": G^T G with A's lower triangle as the pattern of G, for symmetric
  /// positive definite systems (Kolotilina and Yeremin, SIAM J. Matrix Anal. Appl. 14, 1993). It reads the lower
  /// triangle alone, and of a row at most 32 entries, the last ones; rows without a definite local problem are
  /// scaled by the diagonal.
  std::string precond = "jacobi";
  /// Block Jacobi: rows of a block, 1 to 32; the last block may have fewer. 0: the size of the pattern's dense node
  /// blocks (`node_block_size`), 1 without them.
  int block_rows = 0;
  int restart = 20;            ///< GMRES: iterations per cycle, 1 to 100
  int max_iterations = 10000;  ///< of each system: one product with A per iteration, two in BiCGStab
  double rel_tol = 1e-8;       ///< iterate until |b - A x| <= max(rel_tol |b|, abs_tol), 2-norms
  double abs_tol = 0;          ///< in the units of b
  /// Rows and values must be so few that a system fits on the chip, or else the systems are solved one after another
  /// by a LinearSystem. False: always one after another.
  bool together = true;
};

/// How the solve of one system of a batch ended. Norms are absolute 2-norms.
struct BatchedResult {
  Status status = Status::max_iterations;  ///< only `converged` is success; decided by `true_residual`
  Cause cause = Cause::none;               ///< why it did not converge
  std::string_view solver;                 ///< the last one that was tried, as in the table of solvers
  int iterations = 0;                      ///< of all solvers that were tried
  double rhs_norm = 0;                     ///< |b|
  double tolerance = 0;                    ///< max(rel_tol |b|, abs_tol)
  double initial_residual = 0;             ///< |b - A x0|
  double true_residual = 0;                ///< |b - A x| of the returned x, computed in twice the precision

  /// Whether the status is `Status::converged`.
  bool converged() const { return status == Status::converged; }
  /// The cause with its values, for `text_of`.
  Failure failure() const;
};

/// The result of a solve of all systems.
struct BatchedReport {
  std::vector<BatchedResult> systems;  ///< one per system, in their order
  bool together = false;               ///< false: each was an ordinary solve, one after another
  double seconds = 0;                  ///< from the call to the last result

  /// Whether every system has converged; true for an empty batch.
  bool converged() const;
};

/// Systems A_s x_s = b_s, s = 0 .. k - 1, whose matrices have one pattern and different values. Every system has its
/// own status, residual and iterations, and stops by itself; none changes a bit of another. (A BatchSolver is
/// something else: several right-hand sides of one matrix.)
///
/// - On a device one block of threads solves a system in one kernel. Its vectors are in registers and shared memory.
///   So are its values if they fit; then they are read once. Systems of at most 2,048 rows fit, if factors of "ilu"
///   or "fsai" fit into shared memory.
/// - On the host threads take eight systems at a time, whose values are interleaved: one instruction works on several
///   systems. Systems fit if eight of them need at most 16 MB.
///
/// Sums are taken in double and in a fixed order: a system has the same result in every batch, at every place, with
/// every number of threads. Methods: Saad, "Iterative Methods for Sparse Linear Systems", 2nd edition: CG (algorithm
/// 9.1), BiCGStab (7.7, preconditioned from the right), GMRES with modified Gram-Schmidt (9.5).
///
/// When a recurrence meets the tolerance, b - A x is computed in twice the precision. If that does not meet it, the
/// recurrence restarts from it. A restart that has not halved the residual ends the system, GMRES after two cycles
/// without progress.
///
/// Use it from one thread at a time, like its context.
template <class T, Space S>
class BatchedSystem {
 public:
  /// For a square canonical pattern (`check_csr`), which is copied. Throws InputError for a pattern that is not, for
  /// names that are not listed in BatchedOptions, and for numbers out of range. On a device waits for the stream.
  BatchedSystem(const Context<S>& ctx, const Pattern<S>& pattern, BatchedOptions options = {});
  ~BatchedSystem();
  BatchedSystem(BatchedSystem&&) noexcept;
  BatchedSystem& operator=(BatchedSystem&&) noexcept;

  /// Rows of one system.
  Index rows() const;
  /// Stored entries of one system.
  Offset nonzeros() const;
  /// Whether the systems fit, so that they are solved together.
  bool fits() const;

  /// Replaces the tolerances and the limit of iterations: see BatchedOptions. Throws InputError for numbers out of
  /// range.
  void set_limits(double rel_tol, double abs_tol, int max_iterations);

  /// Solves `systems` systems from the guesses in x, or from zero. A guess is not used if its residual is larger than
  /// |b| or not finite.
  ///
  /// `values`: systems x nonzeros(), those of a system one after another in the pattern's order. `b`, `x`: systems x
  /// rows(). A system that did not converge leaves its last iterate in x, or zeros if that is not finite. Throws
  /// InputError if a length does not fit or if x shares memory with the others. Allocates only if there are more
  /// systems than before, or if they do not fit. On a device waits for the stream.
  [[nodiscard]] BatchedReport solve(Index systems, Span<const T, S> values, Span<const T, S> b, Span<T, S> x,
                                    InitialGuess guess = InitialGuess::zero);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace newel
