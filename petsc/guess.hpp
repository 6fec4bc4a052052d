// SPDX-License-Identifier: Apache-2.0
/// The initial guess "newel" of PETSc, a KSPGuess. Internal.
#pragma once

#include <petscksp.h>

namespace newel::petsc {

/// The constructor that KSPGuessRegister registers.
PetscErrorCode create_guess(KSPGuess guess);

}  // namespace newel::petsc
