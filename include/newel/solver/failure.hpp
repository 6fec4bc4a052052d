// SPDX-License-Identifier: Apache-2.0
/// Failure: why a solve ended without converging, as a cause with its figures; and the one place that makes a
/// sentence of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <newel/core/types.hpp>
#include <newel/spmv/operator.hpp>

namespace newel {

/// Why a solve did not converge.
enum class Cause {
  none,                    ///< it converged
  iteration_limit,         ///< `StopCriterion::max_iterations` were made
  time_limit,              ///< `StopCriterion::time_limit_seconds` have passed
  stopped_by_caller,       ///< the progress callback returned false
  matrix_not_positive,     ///< p.Ap <= 0
  precond_not_positive,    ///< r.Mr <= 0
  rho_vanished,            ///< BiCGStab: the residual became orthogonal to the shadow residual
  omega_vanished,          ///< BiCGStab: the stabilising step makes no progress
  krylov_space_exhausted,  ///< GMRES on a singular matrix
  single_precision,        ///< CG broke down in single precision
  not_finite_input,        ///< NaN or infinity in `subject`
  norm_overflows,          ///< of `subject`
  norm_underflows,         ///< of `subject`
  not_finite_residual,     ///< b - A x of the initial guess
  not_finite_iteration,    ///< NaN or infinity appeared on the way
  solution_out_of_range,   ///< x does not fit the precision
  rounding,                ///< rounding keeps b - A x above the tolerance; `level` is attainable
  rounding_of_x,         ///< b - A x, of `level`, is within the rounding of A x in every row; another x may have less
  no_progress,           ///< the residual no longer decreases; `level` was reached
  no_better_residual,    ///< for `iterations` iterations
  slow_residual,         ///< it did not fall to a tenth in `iterations` iterations
  residual_grew,         ///< to `level`
  growth_beyond_digits,  ///< CG: it grew to `level`, which leaves no digit of x, though A and M are symmetric
  outside_range,         ///< b has a constant part of `level`, which a singular matrix cannot produce
  zero_row,              ///< b is not 0, of `level`, where rows of the matrix have no entries but zeros
  inconsistent,          ///< b - A x, of `level`, is orthogonal to all that a singular matrix produces
};

/// What a cause refers to.
enum class Subject { none, right_hand_side, initial_guess };

/// Which operator products with two vectors have shown not to be symmetric, which CG needs.
enum class Asymmetric { none, matrix, preconditioner };

/// Which of A and M (which may be null) is not symmetric, so that CG cannot work with them; none where two vectors do
/// not show that, or where there is no memory to ask. Two products with each; waits for the stream.
template <class T, Space S>
Asymmetric symmetry_fault(const Context<S>& ctx, const LinearOperator<T, S>& A, const LinearOperator<T, S>* M);

/// A solver that was not tried after the failure, for want of memory.
struct Untried {
  std::string solver;  ///< empty: the same solvers on the scaled system
  std::string error;   ///< what the library said of it
};

/// A cause with its figures.
struct Failure {
  Cause cause = Cause::none;                 ///< why
  Subject subject = Subject::none;           ///< what the cause refers to
  double level = 0;                          ///< a residual over |b|
  int iterations = 0;                        ///< of causes that name a number of them
  Asymmetric asymmetric = Asymmetric::none;  ///< what CG was given and cannot use
  bool in_single_precision = false;          ///< of the solver inside a mixed one
  std::vector<Untried> untried = {};         ///< what might have followed
};

/// What to look at where the residual of a row is as large as the row itself although |b - A x| meets the tolerance
/// (see SolveReport::row_residual); empty where no row's is.
std::string warning_of_rows(double row_residual);

/// "iteration_limit", "matrix_not_positive", ...
std::string_view name_of(Cause cause);

/// The sentence of `zero_row`, where `rows` says which rows these are: "row 4 of A holds no value other than 0, and b
/// is not 0 there".
std::string text_of_zero_rows(const Failure& failure, const std::string& rows);

/// One sentence, empty for `none`. `preconditioner` is its name, or empty.
std::string text_of(const Failure& failure, const std::string& preconditioner = {});

}  // namespace newel
