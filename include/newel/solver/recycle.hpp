// SPDX-License-Identifier: Apache-2.0
/// RecycleOptions: whether the solves of a sequence pass on approximate eigenvectors, and RecycleReport, what one
/// solve used of them.
#pragma once

#include <string>

#include <newel/core/method_option.hpp>

namespace newel {

/// Recycled deflation, for CG and GMRES in the precision of the system. Stored in `SolverOptions::methods`.
struct RecycleOptions {
  /// - "0": no vectors are kept.
  /// - "K", 1 to 32: up to K approximate eigenvectors of the preconditioned matrix, those of its smallest
  /// eigenvalues,
  ///   are taken from the iterations of a solve and deflated in the next ones. They are given up while they save no
  ///   iterations.
  /// - "auto": up to 32 vectors, as long as the iterations that they save are estimated to exceed their cost.
  ///
  /// The vectors W are Ritz vectors of a restarted window of CG's preconditioned residuals, whose projected matrix
  /// follows from CG's coefficients (A. Stathopoulos, K. Orginos, "Computing and deflating eigenvalues while solving
  /// multiple right-hand side linear systems with an application to quantum chromodynamics", SIAM J. Sci. Comput. 32
  /// (2010), sections 2 and 3). A solve harvests up to 8, in its first 512 iterations. They are used as a second,
  /// additive preconditioner, M + tau W (W^T A W)^-1 W^T (L. Giraud, S. Gratton, "On the sensitivity of some spectral
  /// preconditioners", SIAM J. Matrix Anal. Appl. 27 (2006), section 2), where tau is half the largest eigenvalue.
  /// It is positive definite whatever W is: vectors that do not fit cost time, and change nothing else. After new
  /// values of A, W^T A W is computed again; other operators drop the vectors.
  ///
  /// W is held in single precision. An iteration reads it twice; a solve that harvests moves up to 24 vectors in
  /// single precision more. The first such solve allocates K + 48 vectors in single precision and three in that of
  /// the system, later ones nothing.
  ///
  /// GMRES is GCRO-DR (M. Parks, E. de Sturler, G. Mackey, D. Johnson, S. Maiti, "Recycling Krylov subspaces for
  /// sequences of linear systems", SIAM J. Sci. Comput. 28 (2006)) with harmonic Ritz vectors of its cycles, at most
  /// half as many as a cycle has columns. They are held in single precision, and their images, in the precision of
  /// the basis, are read with it. A solve that harvests replaces them after each cycle. A solve without vectors turns
  /// to those that it has found after ten cycles, or if it would stagnate. The solver itself holds K vectors more;
  /// the first solve allocates 2 K vectors in single precision and one in that of the system.
  ///
  /// Other methods, mixed precision, and several right-hand sides at once recycle nothing.
  std::string recycle = "0";
};

/// The row of this option, from which command lines, bindings, reports and cache keys are made.
MethodOption recycle_option();

/// What a solve used of recycled vectors.
struct RecycleReport {
  int vectors = 0;  ///< that were deflated
  /// Iterations that the last solve without them would have taken for as many digits, minus those of this one; 0: not
  /// known, or no vectors were used.
  double iterations_saved = 0;
  double seconds = 0;  ///< to prepare the vectors and to take them from the iterations; part of SolveReport::seconds
};

/// What the text of RecycleOptions::recycle asks for.
struct RecycleRule {
  static constexpr int most_vectors = 32;  ///< of "K", and what "auto" may take

  int vectors = 0;       ///< the most that are kept; 0: none
  bool decides = false;  ///< "auto": vectors are used while they are estimated to save time

  /// Whether vectors are kept.
  bool keeps() const { return vectors > 0; }
};

/// Throws InputError for other texts than those of RecycleOptions::recycle.
RecycleRule recycle_rule(const std::string& text);

}  // namespace newel
