// SPDX-License-Identifier: Apache-2.0
/// SmallMatrix: a dense matrix of a few rows on the host. Internal.
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

/// The dot product of row i of a and row j of b, over the columns of a.
double row_product(const SmallMatrix& a, int i, const SmallMatrix& b, int j);

/// Makes row `count` of Q the part of a row of `from` that is orthogonal to the first `count` rows of Q, which are
/// orthonormal, with length 1 (Gram-Schmidt twice). False if it is a combination of them up to rounding.
bool add_orthonormal(SmallMatrix& Q, int count, const SmallMatrix& from, int row);

}  // namespace newel::detail
