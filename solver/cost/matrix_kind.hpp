// SPDX-License-Identifier: Apache-2.0
/// MatrixKind: what a matrix seems to come from, for the iterations that its solves take. Internal.
#pragma once

#include <newel/precond/choice.hpp>
#include "solver/cost/profiles/decision_constants.hpp"

namespace newel::detail {

struct MatrixKind {
  MatrixOrigin origin = MatrixOrigin::unknown;
  bool undamped = false;    ///< most rows are those of a discrete operator without a mass, as far as is known
  bool stencil = false;     ///< nodes have no more neighbours than differences along the lines of a grid give them
  bool blocks = false;      ///< several unknowns at a node
  bool convection = false;  ///< not symmetric, but elliptic, and of so many rows that the reach of the pattern counts
  bool flow = false;        ///< convection that prevails over diffusion
  bool circulation = false;  ///< and has closed streamlines
  bool saddle = false;       ///< a symmetric saddle point, and likewise
  bool diffusion = false;    ///< symmetric, without coordinates, and diffusion on elements by its values
  bool scalar_mesh = false;  ///< one unknown at a node, whose coordinates are known
};

/// What the named preconditioner has to save over the price of its setup, for such a matrix.
double margin_of(const std::string& precond, const PrecondOptions& options, const MatrixKind& kind);

/// How many iterations the named preconditioner takes on such a matrix for those of the simple one.
ExpectedIterations iterations_with(const std::string& precond, const MatrixKind& kind);

/// Iterations of one solve over those of any matrix of its size.
double of_usual_iterations(const MatrixKind& kind);

/// The share of the expected iterations that certainly come in CG with the simple preconditioner, or in another
/// method if they are expected by the reach of the pattern, as long as the residual has hardly fallen, or even
/// `before` anything is known of b; 0: none.
double sure_share(const MatrixKind& kind, bool before);

}  // namespace newel::detail
