// SPDX-License-Identifier: Apache-2.0
/// Inverses of small dense matrices, also of singular ones: of the coarsest level, and of what prolongators need.
/// Internal.
#pragma once

#include <vector>

namespace purlin::detail {

/// The pseudo-inverse of a symmetric positive semidefinite n x n matrix of a few rows, by an eigendecomposition.
std::vector<double> semidefinite_inverse(int n, std::vector<double> a);

/// An inverse of a dense matrix, and how much was missing.
struct DenseInverse {
  std::vector<double> values;  ///< n x n, row by row
  int null_vectors = 0;        ///< the dimension of the null space that was found
};

/// The inverse of the n x n matrix `a`, given row by row; of a singular one the pseudo-inverse, which is 0 on the
/// null spaces. Elimination with complete pivoting; pivots below `tolerance` times the largest count as 0. Where `a`
/// is symmetric, bit for bit or up to rounding, so is the inverse, bit for bit. O(n^3), one thread.
DenseInverse dense_inverse(int n, const std::vector<double>& a, double tolerance);

}  // namespace purlin::detail
