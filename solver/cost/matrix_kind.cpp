// SPDX-License-Identifier: Apache-2.0
// Iterations by what a matrix comes from.
#include "solver/cost/matrix_kind.hpp"

#include <algorithm>
#include <cmath>

#include <newel/precond/registry.hpp>
#include "precond/build_cost.hpp"

namespace newel::detail {
namespace {

double elliptic_in_flow(double simple) {
  return std::min(simple, 1 + ConvectionConstants::elliptic * std::sqrt(simple));
}

double factors_in_flow(double simple) {
  return std::min(simple, 1 + ConvectionConstants::factors * std::sqrt(simple));
}

// Of the table's estimates.
MatrixOrigin expected_origin(const MatrixKind& kind) { return kind.diffusion ? MatrixOrigin::mesh : kind.origin; }

}  // namespace

ExpectedIterations iterations_with(const std::string& precond, const MatrixKind& kind) {
  if (kind.flow && precond != "none") {
    const PrecondMethod& method = find_preconditioner(precond);
    if (method.automatic == AutoPrecond::elliptic) return &elliptic_in_flow;
    if (method.automatic == AutoPrecond::general && method.matrices.triangles) return &factors_in_flow;
  }
  return iterations_with(precond, expected_origin(kind));
}

double margin_of(const std::string& precond, const PrecondOptions& options, const MatrixKind& kind) {
  if (precond == "none") return usual_margin;
  PrecondQuestion question{options};
  const auto margin = [&](MatrixOrigin origin) {
    question.origin = origin;
    const double own = cost_of(find_preconditioner(precond), question).margin;
    return own > 0 ? own : usual_margin;
  };
  const double on_mesh = margin(MatrixOrigin::mesh);
  if (expected_origin(kind) == MatrixOrigin::mesh) return on_mesh;
  const double on_any = margin(MatrixOrigin::unknown);
  return kind.undamped ? std::sqrt(on_mesh * on_any) : on_any;
}

double of_usual_iterations(const MatrixKind& kind) {
  if (kind.blocks) return UsualIterations::of_blocks;
  return kind.scalar_mesh ? UsualIterations::of_mesh : 1;
}

// If most rows are damped, by a step in time say, a solve may take far fewer. All of this is CG, but for the first
// two.
double sure_share(const MatrixKind& kind, bool before) {
  if (kind.circulation) return ReachIterations::sure_of_circulation;
  if (kind.convection) return ReachIterations::sure_of_convection;
  if (kind.saddle) return ReachIterations::sure_of_saddle;
  if (!kind.undamped) return 0;
  const bool mesh = kind.origin == MatrixOrigin::mesh && !kind.stencil;
  if (before && !mesh) return 0;
  return mesh ? SureIterations::of_mesh : SureIterations::of_any;
}

}  // namespace newel::detail
