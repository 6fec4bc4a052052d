// SPDX-License-Identifier: Apache-2.0
/// Newel's endings as PETSc's reasons. Internal.
#pragma once

#include <petscksp.h>

#include <newel/solver/krylov.hpp>

namespace newel::petsc {

/// Positive only for Status::converged: the residual b - A x was computed and meets the tolerance. ATOL if it meets
/// `abs_tol`, as KSPConvergedDefault decides, otherwise RTOL.
KSPConvergedReason reason_of(const SolveReport& report, double abs_tol);

}  // namespace newel::petsc
