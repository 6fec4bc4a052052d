// SPDX-License-Identifier: Apache-2.0
/// SymmetricEigen: all eigenvalues and eigenvectors of a small dense symmetric matrix. Internal.
#pragma once

#include <vector>

#include "solver/recycle/small_matrix.hpp"

namespace newel::detail {

/// Eigenvalues in ascending order; row j of `vectors` is the unit eigenvector of value j.
struct SymmetricEigen {
  std::vector<double> values;
  SmallMatrix vectors;
};

/// Of the symmetric matrix in the first n rows and columns of a, by cyclic Jacobi rotations (G. Golub, C. Van Loan,
/// Matrix Computations, 4th edition, section 8.5). O(n^3) for each of about six sweeps. Same input, same bits.
SymmetricEigen symmetric_eigen(const SmallMatrix& a, int n);

}  // namespace newel::detail
