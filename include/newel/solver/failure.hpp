// SPDX-License-Identifier: Apache-2.0
/// Failure: why a solve did not converge, as a cause with its values; and the only functions that turn it into a
/// sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <newel/core/types.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

/// Why a solve did not converge.
enum class Cause {
  none,                    ///< the solve converged
  iteration_limit,         ///< `StopCriterion::max_iterations` reached
  time_limit,              ///< `StopCriterion::time_limit_seconds` exceeded
  stopped_by_caller,       ///< the progress callback returned false
  matrix_not_positive,     ///< p.Ap <= 0
  precond_not_positive,    ///< r.Mr <= 0
  rho_vanished,            ///< BiCGStab, IDR(s): the recurrence became orthogonal to its shadow vector
  omega_vanished,          ///< BiCGStab, IDR(s): the stabilising step makes no progress
  krylov_space_exhausted,  ///< GMRES on a singular matrix, or a nearly singular one
  single_precision,        ///< CG broke down in single precision
  not_finite_input,        ///< NaN or infinity in `subject`
  norm_overflows,          ///< squares of `subject` overflow
  norm_underflows,         ///< squares of `subject` underflow
  not_finite_residual,     ///< NaN or infinity in b - A x before the first iteration
  not_finite_iteration,    ///< NaN or infinity appeared during the iteration
  solution_out_of_range,   ///< x exceeds the range of the precision
  rounding,                ///< rounding keeps b - A x above the tolerance; about `level` is attainable
  rounding_of_x,         ///< in every row b - A x, of norm `level`, is within the rounding of A x; another x may have
                         ///< a smaller residual
  no_progress,           ///< the residual no longer decreases; `level` was reached
  no_better_residual,    ///< no better residual for `iterations` iterations
  slow_residual,         ///< the residual did not fall by a factor of 10 in `iterations` iterations
  slower_than_factors,   ///< factors of A are expected to take half the time of `iterations` iterations
  residual_grew,         ///< the residual grew to `level`
  growth_beyond_digits,  ///< CG: the residual grew to `level`, so x has no correct digits, although A and M are
                         ///< symmetric
  outside_range,         ///< b has a constant part of norm `level`, which the singular matrix cannot produce
  zero_row,              ///< rows of A contain only zeros, and b is not 0 there: its norm there is `level`
  inconsistent,          ///< b - A x, of norm `level`, is orthogonal to the range of a singular matrix
  singular,              ///< a direct solver found A singular to working precision; `structural_rank` or `condition`
                         ///< is the evidence; for every x at least `level` remains, if that is not 0
};

/// The vector that a cause refers to.
enum class Subject { none, right_hand_side, initial_guess };

/// Which operator is not symmetric, as products with two vectors have shown. CG and MINRES need both symmetric.
enum class Asymmetric { none, matrix, preconditioner };

/// Which of A and M is not symmetric, so that CG and MINRES cannot use it. M may be null. `none` if the test with two
/// vectors finds no asymmetry, or if there is no memory for the test. Costs two products with each operator; waits
/// for the stream.
template <class T, Space S>
Asymmetric symmetry_fault(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M);

/// A solver that was not tried after the failure, for lack of memory or time.
struct Untried {
  std::string solver;  ///< empty: the same solvers on the scaled system
  std::string error;   ///< the library's error message
};

/// A cause with its values.
struct Failure {
  Cause cause = Cause::none;                 ///< why the solve did not converge
  Subject subject = Subject::none;           ///< the vector that the cause refers to
  double level = 0;                          ///< a residual divided by |b|
  int iterations = 0;                        ///< for causes that state a number of iterations
  Asymmetric asymmetric = Asymmetric::none;  ///< the operator that is not symmetric, which the method needs
  bool in_single_precision = false;          ///< the inner solver in mixed precision failed
  std::vector<Untried> untried = {};         ///< solvers that lacked memory or time for an attempt
  /// For `singular`: the most rows that can be paired with different columns in which they have an entry that is not
  /// 0, if these are fewer than all n; else -1.
  Index structural_rank = -1;
  /// With `structural_rank`: the first row and the first column that stay without a partner when as many as possible
  /// have one, 0-based in the caller's numbering; else -1. Which ones stay is not unique.
  Index unmatched_row = -1, unmatched_column = -1;
  /// For `singular`: an estimate of |A|_1 |inverse(A)|_1, computed from factors of A whose rows and columns were
  /// scaled; infinite if a pivot was 0; 0 if it was not computed.
  double condition = 0;
};

/// A warning if the residual of some row is nearly as large as the row itself, although |b - A x| meets the tolerance
/// (see SolveReport::row_residual); otherwise empty.
std::string warning_of_rows(double row_residual);

/// "iteration_limit", "matrix_not_positive", ...
std::string_view name_of(Cause cause);

/// The sentence for `zero_row`; `rows` names the rows: "row 4 of A holds no value other than 0, and b is not 0
/// there".
std::string text_of_zero_rows(const Failure& failure, const std::string& rows);

/// The failure as one sentence; empty for `none`. `preconditioner` is the preconditioner's name, or empty.
std::string text_of(const Failure& failure, const std::string& preconditioner = {});

}  // namespace newel
