// SPDX-License-Identifier: Apache-2.0
/// Which solvers to try for a matrix, in order, and why.
#pragma once

#include <string>
#include <vector>

#include <newel/core/matrix_traits.hpp>

namespace newel {

struct SolverMethod;

/// A plan for `SolverOptions::name` = "auto".
struct SolverChoice {
  std::vector<std::string> order;  ///< the next is tried from the best x after breakdown, indefiniteness, stagnation
  std::string reason;              ///< why the first is first, one sentence
};

/// The methods of the table by their rank: CG for symmetric matrices with a positive diagonal; GMRES for other
/// symmetric ones, which are not positive definite; BiCGStab for the rest. GMRES and BiCGStab stand in for each
/// other.
SolverChoice choose_solver(const MatrixTraits& traits);

/// The method that "auto" tries before these where A is diagonal; null: the table has none.
const SolverMethod* solver_of_diagonal();

}  // namespace newel
