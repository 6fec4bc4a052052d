// SPDX-License-Identifier: Apache-2.0
// Sentences of failures.
#include <newel/solver/failure.hpp>

#include <cmath>
#include <cstdio>

namespace newel {
namespace {

std::string of_rhs(double level) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2e of |b|", level);
  return text;
}

std::string name_of(Subject subject) {
  return subject == Subject::initial_guess ? "initial guess" : "right-hand side";
}

std::string name_of(Asymmetric which, const std::string& preconditioner) {
  return which == Asymmetric::matrix ? "the matrix" : preconditioner;
}

std::string evidence_of_singularity(const Failure& f) {
  if (f.structural_rank >= 0) {
    return ": at most " + std::to_string(f.structural_rank) +
           " rows can be paired with different columns in which they have an entry";
  }
  if (!std::isfinite(f.condition)) return " to working precision: its factorisation meets a zero pivot";
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", f.condition);
  return " to working precision: with rows and columns scaled, its condition number is about " + std::string(text);
}

std::string sentence(const Failure& f, const std::string& preconditioner) {
  switch (f.cause) {
    case Cause::none:
      return "";
    case Cause::iteration_limit:
      return "the iteration limit was reached";
    case Cause::time_limit:
      return "time limit exceeded";
    case Cause::stopped_by_caller:
      return "the caller asked to stop";
    case Cause::matrix_not_positive:
      return "p.Ap <= 0: the matrix is not positive definite";
    case Cause::precond_not_positive:
      return "r.Mr <= 0: " + preconditioner + ", as computed, is not positive definite";
    case Cause::rho_vanished:
      return "rho vanished: the recurrence became orthogonal to its shadow vector";
    case Cause::omega_vanished:
      return "omega vanished: the stabilising step makes no progress";
    case Cause::krylov_space_exhausted:
      return "the Krylov space is exhausted without a solution: the preconditioned matrix is singular or nearly so";
    case Cause::single_precision:
      return "CG broke down in single precision";
    case Cause::not_finite_input:
      return "the " + name_of(f.subject) + " holds NaN or infinity";
    case Cause::norm_overflows:
      return "squares of the " + name_of(f.subject) + " overflow";
    case Cause::norm_underflows:
      return "squares of the " + name_of(f.subject) + " underflow";
    case Cause::not_finite_residual:
      return "b - A x holds NaN or infinity before the first iteration";
    case Cause::not_finite_iteration:
      return "NaN or infinity appeared in the iteration";
    case Cause::solution_out_of_range:
      return "the solution leaves the range of the precision";
    case Cause::rounding:
      return "rounding keeps b - A x above the tolerance; about " + of_rhs(f.level) + " is attainable";
    case Cause::rounding_of_x:
      return "rounding keeps b - A x above the tolerance: " + of_rhs(f.level) +
             " is within the rounding errors of A x in every row";
    case Cause::no_progress:
      if (f.in_single_precision) return "in single precision the residual no longer decreases";
      return "the residual no longer decreases; " + of_rhs(f.level) + " was reached";
    case Cause::no_better_residual:
      return "the residual did not improve for " + std::to_string(f.iterations) + " iterations";
    case Cause::slow_residual:
      return "the residual did not decrease by a factor of 10 in " + std::to_string(f.iterations) + " iterations";
    case Cause::slower_than_factors:
      return "after " + std::to_string(f.iterations) +
             " iterations the residual decreases too slowly: factors of the "
             "matrix take less time than the iterations that remain (a cost model)";
    case Cause::residual_grew:
      return "the residual grew to " + of_rhs(f.level);
    case Cause::growth_beyond_digits:
      return "the residual grew to " + of_rhs(f.level) + ", more than the digits of this precision can represent";
    case Cause::outside_range:
      return "the right-hand side has a constant part" + (f.level > 0 ? ", " + of_rhs(f.level) : "") +
             ", which is not in the range of this singular matrix";
    case Cause::zero_row:
      return text_of_zero_rows(f, "rows of the matrix are zero, and the right-hand side is not zero there");
    case Cause::inconsistent:
      return "b - A x, " + of_rhs(f.level) +
             ", is orthogonal to the range of the matrix, to working precision: the matrix is singular or nearly "
             "so, and x is a least-squares solution to that precision";
    case Cause::singular:
      return "the matrix is singular" + evidence_of_singularity(f) +
             (f.level > 0 ? "; " + of_rhs(f.level) + " or more remains for every x" : "");
  }
  return "";
}

}  // namespace

std::string_view name_of(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::iteration_limit:
      return "iteration_limit";
    case Cause::time_limit:
      return "time_limit";
    case Cause::stopped_by_caller:
      return "stopped_by_caller";
    case Cause::matrix_not_positive:
      return "matrix_not_positive";
    case Cause::precond_not_positive:
      return "precond_not_positive";
    case Cause::rho_vanished:
      return "rho_vanished";
    case Cause::omega_vanished:
      return "omega_vanished";
    case Cause::krylov_space_exhausted:
      return "krylov_space_exhausted";
    case Cause::single_precision:
      return "single_precision";
    case Cause::not_finite_input:
      return "not_finite_input";
    case Cause::norm_overflows:
      return "norm_overflows";
    case Cause::norm_underflows:
      return "norm_underflows";
    case Cause::not_finite_residual:
      return "not_finite_residual";
    case Cause::not_finite_iteration:
      return "not_finite_iteration";
    case Cause::solution_out_of_range:
      return "solution_out_of_range";
    case Cause::rounding:
      return "rounding";
    case Cause::rounding_of_x:
      return "rounding_of_x";
    case Cause::no_progress:
      return "no_progress";
    case Cause::no_better_residual:
      return "no_better_residual";
    case Cause::slow_residual:
      return "slow_residual";
    case Cause::slower_than_factors:
      return "slower_than_factors";
    case Cause::residual_grew:
      return "residual_grew";
    case Cause::growth_beyond_digits:
      return "growth_beyond_digits";
    case Cause::outside_range:
      return "outside_range";
    case Cause::zero_row:
      return "zero_row";
    case Cause::inconsistent:
      return "inconsistent";
    case Cause::singular:
      return "singular";
  }
  return "unknown";
}

std::string warning_of_rows(double row_residual) {
  // A row that is solved has at most the relative tolerance, and little more where x varies; one that is not has 0.1
  // to 1. The largest of 119 real systems and of the meshes whose x is right is given in docs/honest-endings.md.
  constexpr double hardly_solved = 0.05;
  if (!(row_residual > hardly_solved)) return "";
  char level[16];
  std::snprintf(level, sizeof level, "%.2f", row_residual);
  return "the relative residual of a row is " + std::string(level) +
         ": the row is far smaller than |b| and almost unsolved; lower the relative tolerance, or scale the rows";
}

std::string text_of_zero_rows(const Failure& failure, const std::string& rows) {
  return rows + ": " + of_rhs(failure.level) + " remains for every x";
}

std::string text_of(const Failure& failure, const std::string& name) {
  const std::string preconditioner = "the preconditioner" + (name.empty() ? "" : " " + name);
  std::string text = sentence(failure, preconditioner);
  if (failure.in_single_precision && failure.cause != Cause::no_progress &&
      failure.cause != Cause::single_precision) {
    text = "in single precision: " + text;
  }
  if (failure.asymmetric != Asymmetric::none) {
    text += failure.cause == Cause::residual_grew ? ": " : ", and ";
    text += name_of(failure.asymmetric, preconditioner) + " is not symmetric, but the method needs symmetry";
  }
  for (const Untried& untried : failure.untried) {
    text += untried.solver.empty() ? "; with scaling, the solver" : "; " + untried.solver;
    text += " was not tried: " + untried.error;
  }
  return text;
}

}  // namespace newel
