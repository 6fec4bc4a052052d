// SPDX-License-Identifier: Apache-2.0
/// What solves of a batch read and write in S: the pattern, the caller's arrays, the outcomes. Internal.
#pragma once

#include <newel/solver/krylov.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// What is left of a system between two attempts, and at the end. `attempt`: 1 + the line of the method.
struct BatchedOutcome {
  Status status;
  Cause cause;
  int attempt;  ///< 0: none has been made
  int iterations;
  double rhs_norm, tolerance, initial_residual, true_residual;
};

/// What M of every system is.
enum class BatchedInverse : int {
  blocks,  ///< of diagonal blocks: block Jacobi, Jacobi, or none
  ilu,     ///< of incomplete factors
  fsai,    ///< a factorised sparse approximate inverse
};

/// Limits and tolerances, the same for all systems.
struct BatchedLimits {
  int max_iterations;
  double rel_tol, abs_tol;
  int restart;     ///< GMRES
  int block_rows;  ///< of M: 0 none, 1 Jacobi; 0 unless M is of blocks
  BatchedInverse inverse;
};

/// Which systems an attempt is about.
enum class BatchedFilter : int {
  all,
  symmetric,  ///< those that `is_definite` marks
  failed,     ///< not yet tried, or failed in a way that another method may mend
};

/// Pointers in S. The values of system s begin at s nonzeros, its vectors at s rows.
template <class T>
struct BatchedProblem {
  Index systems, rows;
  Offset nonzeros;
  const T *values, *b;
  T* x;
  bool zero_guess;
  bool fresh;                        ///< no attempt has been made: `outcome` holds nothing yet
  const unsigned char* is_definite;  ///< of a system: symmetric with a positive diagonal
  BatchedOutcome* outcome;
  BatchedOutcome* reported;  ///< where the host reads them; null: it copies `outcome`
  BatchedLimits limits;
  BatchedFilter filter;
  int attempt;

  /// Before the attempt.
  NEWEL_HD BatchedOutcome last(Index s) const { return fresh ? BatchedOutcome{} : outcome[s]; }

  /// After the attempt.
  NEWEL_HD void end(Index s, const BatchedOutcome& result) const {
    outcome[s] = result;
    if (reported != nullptr) reported[s] = result;
  }

  /// Whether this attempt is about system s.
  NEWEL_HD bool takes(Index s) const {
    if (filter == BatchedFilter::all) return true;
    if (filter == BatchedFilter::symmetric) return is_definite[s] != 0;
    const BatchedOutcome& last = outcome[s];
    if (last.attempt == 0) return true;
    return last.status == Status::not_positive_definite || last.status == Status::breakdown ||
           last.status == Status::stagnation || last.status == Status::diverged ||
           last.cause == Cause::not_finite_iteration;
  }
};

}  // namespace newel::detail
