// SPDX-License-Identifier: Apache-2.0
// Newel's endings as PETSc's reasons.
#include "reasons.hpp"

namespace newel::petsc {

KSPConvergedReason reason_of(const SolveReport& report, double abs_tol) {
  switch (report.status) {
    case Status::converged:
      return report.true_residual + report.residual_error_bound <= abs_tol ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
    case Status::max_iterations:
    case Status::time_limit:
      return KSP_DIVERGED_ITS;
    case Status::not_positive_definite:
      return report.failure.cause == Cause::precond_not_positive ? KSP_DIVERGED_INDEFINITE_PC
                                                                 : KSP_DIVERGED_INDEFINITE_MAT;
    case Status::not_finite:
      return KSP_DIVERGED_NANORINF;
    case Status::diverged:
      return KSP_DIVERGED_DTOL;
    case Status::breakdown:
    case Status::stagnation:
    case Status::stopped_by_caller:
      break;
  }
  return KSP_DIVERGED_BREAKDOWN;
}

}  // namespace newel::petsc
