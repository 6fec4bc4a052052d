// SPDX-License-Identifier: Apache-2.0
/// The preconditioner "newel" of PETSc. Internal.
#pragma once

#include <memory>

#include <petscpc.h>

#include "options.hpp"
#include "system_of_mat.hpp"

namespace newel::petsc {

/// What a PC of type "newel" holds.
struct PcNewel {
  Options options;
  SystemOfMat of_mat;
  std::shared_ptr<const NodeCoordinates> coordinates;  ///< of PCSetCoordinates; null: none
  int coordinates_set = 0;                             ///< how often
  bool serves_ksp = false;  ///< a KSP of type "newel" takes options and coordinates, and makes the preconditioner

  /// Changes with what a system depends on.
  std::string key() const { return options.given + std::to_string(coordinates_set); }
};

/// The constructor that PCRegister registers.
PetscErrorCode create_pc(PC pc);

/// Null if the PC is of another type.
PcNewel* newel_of(PC pc);

}  // namespace newel::petsc
