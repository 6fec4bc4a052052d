// SPDX-License-Identifier: Apache-2.0
/// AmgOptions: the choices of algebraic multigrid.
#pragma once

#include <memory>
#include <vector>

namespace newel {

/// What a level's smoother is: a polynomial in S A, with S the inverse of the diagonal where nothing else is said.
enum class AmgSmoother {
  automatic,  ///< level by level one of those below, see `choose_smoother`
  chebyshev,  ///< Chebyshev's of the fourth kind
  jacobi,     ///< damped Jacobi, as often as the degree says
  spai,       ///< S a sparse approximate inverse on the pattern of A, damped; not symmetric
  fsai,       ///< Chebyshev's with S the factorized one, for symmetric positive definite A
};

/// What new values replace; see the documentation for which to take.
enum class AmgRefresh {
  galerkin,  ///< all matrices; prolongators stay
  full,      ///< prolongators too, on the same aggregates
  keep,      ///< nothing
};

/// Which vectors the coarse grids represent.
enum class AmgNearNull {
  automatic,  ///< rigid where there are coordinates in two or three dimensions with as many rows a node, else
              ///< constant
  constant,   ///< a constant for each unknown of a node
  rigid,      ///< the rigid body modes; needs coordinates
};

/// How the unknowns of a mesh's nodes are numbered.
enum class AmgNumbering {
  automatic,     ///< what the pattern shows
  by_node,       ///< x y z, x y z, ...: those of a node one after the other
  by_component,  ///< x x ..., y y ..., z z ...: the same component of all nodes one after the other
};

/// Which precision a system in double applies the cycle in; one in single precision has no choice.
enum class AmgPrecision {
  automatic,  ///< single, unless values of A are near the ends of its range, or the contrast between them would hide
              ///< soft parts; then that of the system
  system,     ///< that of the system
  single,     ///< single: half the bytes, and as a rule as many iterations
};

/// Vectors of the caller's own that A maps to almost nothing: `count` of them, row by row (the values of a row next
/// to each other), in the caller's numbering.
struct NearNullVectors {
  int count = 0;               ///< vectors
  std::vector<double> values;  ///< rows x count
};

/// The options of algebraic multigrid.
struct AmgOptions {
  /// Nodes are strongly connected where |A_ij|^2 >= theta^2 |A_ii| |A_jj|; 0: all neighbours are. Larger values serve
  /// anisotropic and badly shaped elements, up to about 0.05; beyond, aggregates become small.
  double theta = 0.02;
  AmgSmoother smoother = AmgSmoother::automatic;  ///< of all levels
  /// Of the polynomial, for each of the two smoothing steps of the finest level: 1 to 8; half as much again below.
  /// With SPAI and FSAI, which cost a product more for each, half of it, rounded up.
  int degree = 2;
  /// A matrix of no more rows is inverted; a larger one gets a coarser level. 0: 256, on a device 1,024 where the
  /// matrix is symmetric positive definite.
  int max_coarse = 0;
  /// Aggregates that a row of a prolongator reaches, at most: the largest entries stay, and those that go are made up
  /// for. Fewer make coarse matrices sparser. Twice as many below the first level.
  int max_width = 3;
  AmgPrecision precision = AmgPrecision::automatic;  ///< of the cycle; the hierarchy is always computed in double
  AmgRefresh refresh = AmgRefresh::galerkin;         ///< what new values replace
  AmgNearNull near_null = AmgNearNull::automatic;    ///< which vectors the coarse grids represent
  /// In place of `near_null`.
  std::shared_ptr<const NearNullVectors> vectors = nullptr;
  /// Unknowns of a node; 0: what the coordinates say, else what the pattern shows.
  int node_rows = 0;
  AmgNumbering numbering = AmgNumbering::automatic;  ///< of the unknowns of nodes
};

}  // namespace newel
