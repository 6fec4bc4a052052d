// SPDX-License-Identifier: Apache-2.0
/// dense_eigen: all eigenvalues and eigenvectors of a dense symmetric matrix of a few hundred rows. Internal.
#pragma once

#include "solver/recycle/symmetric_eigen.hpp"

namespace newel::detail {

/// By Householder's tridiagonal form and implicit QR steps with Wilkinson's shift (G. Golub, C. Van Loan, Matrix
/// Computations, 4th edition, sections 8.3.1 to 8.3.5). About 9 n^3 operations: from 30 rows on faster than
/// `symmetric_eigen`, and less accurate for eigenvalues that are tiny beside the largest. Only the lower triangle is
/// read. Same input, same bits.
SymmetricEigen dense_eigen(const SmallMatrix& a);

/// Orthonormal columns that span those of `given`, less those that depend on the others: Gram-Schmidt, the longest
/// first, twice. Columns are as orthogonal to those of `against`, which are orthonormal.
SmallMatrix orthonormal_columns(const SmallMatrix& given, const SmallMatrix& against);

}  // namespace newel::detail
