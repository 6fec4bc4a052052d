// SPDX-License-Identifier: Apache-2.0
/// The options "-ksp_newel_..." and "-pc_newel_..." of PETSc's database. Internal.
#pragma once

#include <string>

#include <petscsys.h>

#include "c/settings.hpp"

namespace newel::petsc {

/// Which options there are: all of them, or those of a preconditioner alone.
enum class OptionsOf { solver, preconditioner };

/// What the database has set so far. `given` names every option that was set, with its value.
struct Options {
  c::Settings settings;
  std::string given;
};

/// Reads the options of an object, named "-", the object's prefix, `stem` and a name: those of a table of their own,
/// and all that the tables of solvers and preconditioners declare. Throws InputError for values that an option cannot
/// have, and for names with this stem that do not exist.
void read_options(PetscOptionItems* items, const std::string& stem, OptionsOf which, Options& options);

}  // namespace newel::petsc
