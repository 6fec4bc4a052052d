// SPDX-License-Identifier: Apache-2.0
/// The solver "newel" of PETSc. Internal.
#pragma once

#include <petscksp.h>

namespace newel::petsc {

/// The constructor that KSPRegister registers.
PetscErrorCode create_ksp(KSP ksp);

}  // namespace newel::petsc
