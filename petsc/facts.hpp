// SPDX-License-Identifier: Apache-2.0
/// What a Mat and a PC know of a system besides its entries. Internal.
#pragma once

#include <array>
#include <memory>

#include <petscmat.h>

#include <newel/precond/amg/amg_options.hpp>
#include <newel/solver/system_options.hpp>

namespace newel::petsc {

/// Read from the Mat; `coordinates` come from the PC.
struct Facts {
  std::shared_ptr<const NodeCoordinates> coordinates;  ///< of this process' nodes; null: unknown
  std::shared_ptr<const NearNullVectors> near_null;    ///< of this process' rows; null: none
  int node_rows = 0;                                   ///< the block size of the Mat; 0: none was set
  NullSpace null_space = NullSpace::none;              ///< `constant` if the null space is that of the constants
  MatNullSpace other = nullptr;                        ///< any other null space, borrowed from the Mat; null: none
};

/// All processes of the Mat call it. Near-null vectors are those of MatSetNearNullSpace, or else of MatSetNullSpace.
Facts facts_of(Mat a);

/// Writes the facts into the options. What an option has set already stays.
void apply(const Facts& facts, SystemOptions& options);

/// Identifies the objects that the facts were read from. A Mat with another identity needs a new setup.
std::array<PetscObjectId, 3> identity_of(Mat a);

}  // namespace newel::petsc
