// SPDX-License-Identifier: Apache-2.0
/// A solve of the KSP "newel". Internal.
#pragma once

#include <optional>

#include <petscksp.h>

#include "options.hpp"
#include "system_of_mat.hpp"

namespace newel::petsc {

/// What a KSP of type "newel" holds.
struct KspNewel {
  Options options;
  SystemOfMat of_mat;
  std::optional<SolveReport> report;  ///< of the last solve
  bool solving = false;               ///< within a solve
};

/// Brings the system up to date with the Mat of the KSP, and gives the KSP a PC that does nothing unless it has one
/// of type "newel". Throws InputError for another PC that was asked for, and for a Pmat that is not the Amat.
void update_system(KSP ksp, KspNewel& data);

/// Solves for the right-hand side and the solution of the KSP, and sets what a KSP reports.
void solve_system(KSP ksp, KspNewel& data);

}  // namespace newel::petsc
