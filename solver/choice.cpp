// SPDX-License-Identifier: Apache-2.0
// The automatic choice of a solver.
#include <purlin/solver/choice.hpp>

namespace purlin {

SolverChoice choose_solver(const MatrixTraits& traits) {
  if (!traits.symmetric()) {
    return {{"bicgstab", "gmres"},
            traits.pattern_symmetric ? "the values are not symmetric" : "the pattern is not symmetric"};
  }
  if (traits.positive_diagonal()) return {{"cg", "gmres", "bicgstab"}, "symmetric with a positive diagonal"};
  return {{"gmres", "bicgstab"},
          "symmetric, but the diagonal is not positive, so the matrix is not positive definite"};
}

}  // namespace purlin
