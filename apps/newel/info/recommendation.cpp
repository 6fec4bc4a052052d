// SPDX-License-Identifier: Apache-2.0
// The rules of `--solver auto`, as a command.
#include "recommendation.hpp"

#include <newel/solver/choice.hpp>

#include "apps/common/precond_report.hpp"
#include "apps/common/text.hpp"

namespace newel::cli {

Recommendation recommend(const std::string& name, Index rows, Index cols, const MatrixTraits& traits,
                         bool rows_sum_to_zero, const std::string& defect) {
  Recommendation result;
  if (rows != cols) {
    result.reason = "the matrix is not square: newel solve needs a square one";
    return result;
  }
  if (traits.empty_rows.count > 0) {
    result.reason = "the matrix has empty rows, so it is singular";
    return result;
  }
  if (!defect.empty()) {
    result.reason = defect;
    return result;
  }
  // What the automatic choice of a solver takes, and what it continues with, needs no naming.
  const SolverChoice choice = choose_solver(traits);
  result.command = "newel solve " + shell_quoted(name) + " --rhs " + shell_quoted("A*random");
  result.reason = choice.reason + ": solvers are tried in this order: " + join(choice.order);
  if (!traits.full_diagonal()) {
    result.command += " --precond none";
    result.reason =
        "Jacobi divides by the diagonal, which has missing or zero entries; if it fails, try " + strong_precond();
  }
  if (rows_sum_to_zero) result.command += " --null-space constant";
  return result;
}

}  // namespace newel::cli
