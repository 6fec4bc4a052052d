// SPDX-License-Identifier: Apache-2.0
/// Which solvers to try for a matrix, in order, and why.
#pragma once

#include <string>
#include <vector>

#include <newel/core/matrix_traits.hpp>

namespace newel {

struct SolverMethod;

/// The choice for `SolverOptions::name` = "auto".
struct SolverChoice {
  std::vector<std::string> order;  ///< after breakdown, indefiniteness or stagnation the next one continues from the
                                   ///< best x
  std::string reason;              ///< why the first one is first, as one sentence
};

/// The methods of the table by rank: CG for symmetric matrices with a positive diagonal; GMRES for other symmetric
/// matrices, which are not positive definite; BiCGStab for the rest. GMRES and BiCGStab are each other's fallback.
SolverChoice choose_solver(const MatrixTraits& traits);

/// The method that "auto" tries first if A is diagonal; null: the table has none.
const SolverMethod* solver_of_diagonal();

/// The method that "auto" tries when all others have failed with every preconditioner; null: the table has none.
const SolverMethod* solver_of_last_resort();

}  // namespace newel
