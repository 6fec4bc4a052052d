// SPDX-License-Identifier: Apache-2.0
/// HarmonicRitz: approximate eigenvectors of the smallest eigenvalues, from a cycle of GMRES. Internal.
#pragma once

#include <complex>
#include <vector>

#include "solver/recycle/small_matrix.hpp"

namespace newel::detail {

/// A cycle of p columns that k vectors U were kept out of: B [U V_p] = [C V_{p+1}] G with orthonormal C and V, where
/// B is the preconditioned matrix and G = [R P; 0 H]. Givens rotations make H upper triangular. k may be 0.
struct CycleRelation {
  SmallMatrix R;                     ///< k x k, upper triangular
  SmallMatrix P;                     ///< k x p: the part of B V_p in C
  SmallMatrix triangle;              ///< p x p: H after the rotations, without its last row, which is zero
  std::vector<double> cosine, sine;  ///< p: rotation j is [c s; -s c] on rows j and j + 1
  SmallMatrix products;              ///< k + p + 1 rows of k: [C V_{p+1}]^T U

  int kept() const { return R.rows; }
  int columns() const { return triangle.rows; }
};

struct HarmonicRitz {
  std::vector<std::complex<double>> values;  ///< one for each row; a pair has two rows
  SmallMatrix vectors;                       ///< rows of k + p coefficients for [U V_p], orthonormal
};

/// The harmonic Ritz vectors z of the smallest |theta|, B z - theta z orthogonal to B [U V_p] (R. Morgan, "GMRES with
/// deflated restarting", SIAM J. Sci. Comput. 24 (2002), section 2; M. Parks, E. de Sturler, G. Mackey, D. Johnson,
/// S. Maiti, "Recycling Krylov subspaces for sequences of linear systems", SIAM J. Sci. Comput. 28 (2006), section
/// 3). Rows span the real and imaginary parts of at most `most` of them, of those with |theta| below `small_part` of
/// the largest |B v_j|. None if the relation has numbers that are not finite or is singular. Same input, same bits.
HarmonicRitz harmonic_ritz(const CycleRelation& cycle, int most, double small_part);

}  // namespace newel::detail
