// SPDX-License-Identifier: Apache-2.0
// What PETSc calls after it has loaded libnewel_petsc.so.
#include <type_traits>

#include <petscksp.h>

#include "guess.hpp"
#include "ksp.hpp"
#include "pc.hpp"
#include "petsc_calls.hpp"

static_assert(std::is_same_v<PetscScalar, double>, "the plugin needs a PETSc with real scalars in double precision");

/// The name is the file's without "lib": see PetscDLLibraryOpen.
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_newel_petsc(void) {
  PetscFunctionBegin;
  PetscCall(KSPRegister("newel", newel::petsc::create_ksp));
  PetscCall(PCRegister("newel", newel::petsc::create_pc));
  PetscCall(KSPGuessRegister("newel", newel::petsc::create_guess));
  PetscFunctionReturn(newel::petsc::success);
}
