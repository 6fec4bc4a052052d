// SPDX-License-Identifier: Apache-2.0
/// On which side of a number all eigenvalues of a symmetric tridiagonal matrix lie. Internal.
#pragma once

#include <vector>

namespace newel::detail {

/// A row: the diagonal, and the square of what stands to the left of it, 0 in the first.
struct TridiagonalRow {
  double diagonal, left_squared;
};

/// Whether all eigenvalues exceed `value`, or with `side` -1 are below it: the matrix minus that has as many negative
/// pivots as eigenvalues below it. The first pivot of the other sign ends the search.
inline bool all_eigenvalues_beyond(const std::vector<TridiagonalRow>& rows, double value, int side) {
  double pivot = side;
  for (const TridiagonalRow& row : rows) {
    pivot = row.diagonal - value - row.left_squared / pivot;
    if (!(side * pivot > 0)) return false;
  }
  return true;
}

}  // namespace newel::detail
