// SPDX-License-Identifier: Apache-2.0
// Iterations by what a matrix comes from.
#include "solver/cost/matrix_kind.hpp"

#include <cmath>

#include <newel/precond/registry.hpp>

namespace newel::detail {

double margin_of(const std::string& precond, const MatrixKind& kind) {
  if (precond == "none") return usual_margin;
  const PrecondMethod& method = find_preconditioner(precond);
  if (kind.origin == MatrixOrigin::mesh) return method.margin_on_mesh;
  return kind.undamped ? std::sqrt(method.margin_on_mesh * method.margin) : method.margin;
}

// Fitted to diffusion and elasticity on 16 meshes, refined up to once: with 1 for all the estimates after 16 to 64
// iterations were 1.25 and 0.45 times what came, in the means of logarithms.
double of_usual_iterations(const MatrixKind& kind) {
  constexpr double of_blocks = 2, of_mesh = 0.65;
  if (kind.blocks) return of_blocks;
  return kind.scalar_mesh ? of_mesh : 1;
}

// On 27 meshes, diffusion and elasticity, b = 1 and b = A times a random x, all solves but those of one long thin
// body took 0.4 to 20 times what is expected by their size, that one 0.2 to 0.4 times; the matrix of a grid with
// seven entries in a row takes 0.27 times. If most rows are damped, by a step in time say, they may take far fewer.
double sure_share(const MatrixKind& kind, bool before) {
  constexpr double of_mesh = 1.0 / 3, of_any = 0.2;
  if (!kind.undamped) return 0;
  const bool mesh = kind.origin == MatrixOrigin::mesh && !kind.stencil;
  if (before && !mesh) return 0;
  return mesh ? of_mesh : of_any;
}

}  // namespace newel::detail
