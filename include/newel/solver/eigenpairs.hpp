// SPDX-License-Identifier: Apache-2.0
/// smallest_eigenpairs: the smallest eigenvalues of a symmetric matrix or pencil, by LOBPCG, in either space.
#pragma once

#include <functional>
#include <vector>

#include <newel/spmv/operator.hpp>

namespace newel {

/// A x = lambda M x. All operators are square, of the same size, and number the rows in the same way. They must
/// outlive the call.
template <Space S>
struct EigenProblem {
  const LinearOperator<double, S>* a = nullptr;  ///< symmetric
  const LinearOperator<double, S>* m = nullptr;  ///< symmetric positive definite; null: the identity
  /// Symmetric positive definite, close to the inverse of A, or of A - sigma M with a sigma below all eigenvalues.
  /// The eigenpairs do not depend on it. Null: none.
  const LinearOperator<double, S>* preconditioner = nullptr;
  /// 1 / M_ii, which residuals are measured with; empty: ones. `traits().diagonal` of Jacobi's preconditioner of M.
  Span<const double, S> inverse_mass_diagonal = {};
  /// Vectors of the null space of A, or other eigenvectors, that are left out, column after column: those found are
  /// M-orthogonal to them.
  Span<const double, S> deflated = {};
};

/// How many eigenpairs, and how accurate.
struct EigenOptions {
  int pairs = 6;             ///< at least 1; at most the rows less the vectors that are left out
  double tolerance = 1e-6;   ///< a residual may be as large as this times the largest of the eigenvalues
  int max_iterations = 500;  ///< if they do not suffice, the report says so
};

/// What became of it. With d the diagonal of M, the residual of x with x.M x = 1 is the 2-norm of (A x - lambda M x)
/// / sqrt(d), which is comparable with eigenvalues.
struct EigenReport {
  bool converged = false;         ///< all residuals, from the vectors that are returned, meet the tolerance
  int iterations = 0;             ///< each with one product of A for each pair that has not converged
  int block = 0;                  ///< vectors that were iterated: the pairs and some more
  std::vector<double> values;     ///< ascending
  std::vector<double> residuals;  ///< of each pair
  double tolerance = 0;           ///< what they had to meet; more than was wanted if rounding does not allow that
  double seconds = 0;             ///< of the call
};

/// Called with the number of iterations so far; false ends the iteration.
using EigenProgress = std::function<bool(int iterations)>;

/// The smallest eigenvalues, and in `vectors` their eigenvectors, column after column, with V^T M V = I. The largest
/// entry of each is positive. `guesses` are columns to begin with, which may depend on each other; without them
/// random vectors of a fixed seed are taken, so that calls repeat.
///
/// LOBPCG (A. Knyazev, SIAM J. Sci. Comput. 23(2), 2001, algorithm 4.1) with a basis as in J. Duersch, M. Shao, C.
/// Yang and M. Gu (SIAM J. Sci. Comput. 40(5), 2018): it is kept M-orthonormal. Pairs that have converged stay in the
/// basis and get no new directions (soft locking). Operators are applied to up to eight vectors at once
/// (`LinearOperator::apply_columns`). About 16 vectors for each column of the block are allocated.
///
/// Waits for the stream. Same input, same bits. Throws InputError for lengths and options that do not fit, if M is
/// not positive definite, if a product is not finite, and in a context of a rank; OutOfMemory.
template <Space S>
EigenReport smallest_eigenpairs(const Context<S>& ctx, const EigenProblem<S>& problem, const EigenOptions& options,
                                Span<double, S> vectors, Span<const double, S> guesses = {},
                                const EigenProgress& progress = {});

}  // namespace newel
