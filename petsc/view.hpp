// SPDX-License-Identifier: Apache-2.0
/// What -ksp_view and -pc_view print of a system. Internal.
#pragma once

#include <string>

#include "system_of_mat.hpp"

namespace newel::petsc {

/// The chosen solver, preconditioner and format with their reasons, and how often the system was set up and
/// refreshed. Prints in ASCII viewers only; all processes call it.
void view_system(PetscViewer viewer, const SystemOfMat& of_mat, bool with_solver);

/// How the last solve ended.
void view_report(PetscViewer viewer, const SolveReport& report);

/// The rule of guesses, past solutions that are there, and what the last guess came to.
void view_guess(PetscViewer viewer, const std::string& rule, int vectors, const GuessReport& report);

/// A number as these functions print it: "1.23e-09".
std::string three_digits(double value);

}  // namespace newel::petsc
