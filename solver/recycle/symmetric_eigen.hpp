// SPDX-License-Identifier: Apache-2.0
/// SymmetricEigen: all eigenvalues and eigenvectors of a small dense symmetric matrix. Internal.
#pragma once

#include <vector>

namespace newel::detail {

/// A dense matrix of a few rows, row after row.
struct SmallMatrix {
  explicit SmallMatrix(int rows_ = 0, int cols_ = 0)
      : rows(rows_), cols(cols_), values(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(cols_), 0.0) {}

  double& operator()(int i, int j) { return values[static_cast<std::size_t>(i * cols + j)]; }
  double operator()(int i, int j) const { return values[static_cast<std::size_t>(i * cols + j)]; }

  int rows, cols;
  std::vector<double> values;
};

/// Eigenvalues in ascending order; row j of `vectors` is the unit eigenvector of value j.
struct SymmetricEigen {
  std::vector<double> values;
  SmallMatrix vectors;
};

/// Of the symmetric matrix in the first n rows and columns of a, by cyclic Jacobi rotations (G. Golub, C. Van Loan,
/// Matrix Computations, 4th edition, section 8.5). O(n^3) for each of about six sweeps. Same input, same bits.
SymmetricEigen symmetric_eigen(const SmallMatrix& a, int n);

}  // namespace newel::detail
