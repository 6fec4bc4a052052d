// SPDX-License-Identifier: Apache-2.0
/// SmallEigen: the eigenvalues of a small dense matrix, and eigenvectors of those that are asked for. Internal.
#pragma once

#include <complex>
#include <vector>

#include "solver/recycle/small_matrix.hpp"

namespace newel::detail {

/// Of a real square matrix, by Householder's reduction to Hessenberg form and the QR algorithm with double shifts (G.
/// Golub, C. Van Loan, Matrix Computations, 4th edition, sections 7.4 and 7.5); eigenvectors by inverse iteration
/// with the Hessenberg matrix (section 7.6.1). About 12 n^3 operations, and n^2 for each vector. Same input, same
/// bits.
class SmallEigen {
 public:
  explicit SmallEigen(const SmallMatrix& a);

  /// In no order; pairs follow each other, the one with the positive imaginary part first. Empty if there is an entry
  /// that is not finite, or the algorithm does not converge.
  const std::vector<std::complex<double>>& values() const { return values_; }
  /// A unit eigenvector of value number j. Equal values have independent vectors if there are such.
  std::vector<std::complex<double>> vector(int j) const;

 private:
  SmallMatrix H_;           ///< Hessenberg matrix
  SmallMatrix reflectors_;  ///< row k: the unit vector of reflector k, whose first k + 1 entries are zero
  std::vector<std::complex<double>> values_;
};

}  // namespace newel::detail
