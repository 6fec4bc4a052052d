// SPDX-License-Identifier: Apache-2.0
/// AmgOptions: the options of algebraic multigrid.
#pragma once

#include <memory>
#include <vector>

namespace newel {

/// The smoother of a level: a polynomial in S A, where S is the inverse of the diagonal unless stated otherwise.
enum class AmgSmoother {
  automatic,  ///< one of those below for each level, see `choose_smoother`
  chebyshev,  ///< Chebyshev polynomials of the fourth kind
  jacobi,     ///< damped Jacobi, repeated as often as the degree says
  spai,       ///< S is a sparse approximate inverse on the pattern of A, damped; not symmetric
  fsai,       ///< Chebyshev with S a factorised sparse approximate inverse, for symmetric positive definite A
  ilut,       ///< S is the inverse of incomplete factors with a drop tolerance; not symmetric
};

/// What a refresh with new values recomputes; see the documentation for advice.
enum class AmgRefresh {
  galerkin,  ///< all matrices; prolongators are kept
  full,      ///< prolongators too, on the same aggregates
  keep,      ///< nothing
};

/// Which vectors the coarse grids represent.
enum class AmgNearNull {
  automatic,  ///< `rigid` if there are coordinates in d = 2 or 3 dimensions with d rows per node, else `constant`
  constant,   ///< one constant vector per unknown of a node
  rigid,      ///< the rigid body modes; needs coordinates
};

/// How the unknowns of the mesh nodes are numbered.
enum class AmgNumbering {
  automatic,     ///< detected from the pattern
  by_node,       ///< x y z, x y z, ...: the unknowns of a node are adjacent
  by_component,  ///< x x ..., y y ..., z z ...: the same component of all nodes is adjacent
};

/// The precision of the cycle in a system in double; in single precision there is no choice.
enum class AmgPrecision {
  automatic,  ///< `single`, unless values of A are near the limits of its range, or their contrast would hide soft
              ///< parts; then `system`
  system,     ///< the precision of the system
  single,     ///< half the bytes, usually with as many iterations
};

/// Vectors from the caller that A maps to almost zero: `count` vectors in the caller's numbering, row by row (the
/// values of a row are adjacent).
struct NearNullVectors {
  int count = 0;               ///< number of vectors
  std::vector<double> values;  ///< rows x count
};

/// The options of algebraic multigrid.
struct AmgOptions {
  /// Nodes are strongly connected if |A_ij|^2 >= theta^2 |A_ii| |A_jj|; 0: all neighbours are. Larger values, up to
  /// about 0.05, help with anisotropic and badly shaped elements; above that, aggregates become small.
  double theta = 0.02;
  AmgSmoother smoother = AmgSmoother::automatic;  ///< on all levels
  /// Degree of the polynomial in each of the two smoothing steps of the finest level, 1 to 8; coarser levels use 1.5
  /// times this degree. SPAI, FSAI and ILUT, which cost one more product per degree, use half of it, rounded up.
  int degree = 2;
  /// A matrix with at most this many rows is inverted; a larger one gets a coarser level. 0: 256; 1,024 on a device
  /// if the matrix is symmetric positive definite.
  int max_coarse = 0;
  /// Maximum number of aggregates that a row of a prolongator reaches; twice as many below the first level. The
  /// largest blocks are kept, and the others are compensated. Smaller values make coarse matrices sparser.
  int max_width = 3;
  AmgPrecision precision = AmgPrecision::automatic;  ///< of the cycle; the hierarchy is always computed in double
  AmgRefresh refresh = AmgRefresh::galerkin;         ///< what a refresh recomputes
  AmgNearNull near_null = AmgNearNull::automatic;    ///< which vectors the coarse grids represent
  /// Used instead of `near_null`.
  std::shared_ptr<const NearNullVectors> vectors = nullptr;
  /// Unknowns per node; 0: from the coordinates, or else from the pattern.
  int node_rows = 0;
  AmgNumbering numbering = AmgNumbering::automatic;  ///< of the unknowns of nodes
};

}  // namespace newel
