// SPDX-License-Identifier: Apache-2.0
/// What the fuzz targets require of a matrix that a reader gives.
#pragma once

#include <cmath>
#include <cstdlib>

#include <newel/core/csr.hpp>

namespace newel::fuzz {

inline void insist(bool condition) {
  if (!condition) std::abort();
}

/// Sound row pointers; columns ascending, within the matrix; finite values.
inline void check_well_formed(const Csr<double, Space::host>& a) {
  insist(a.rows >= 0 && a.cols >= 0 && a.row_ptr.size() == Offset{a.rows} + 1);
  insist(a.row_ptr[0] == 0 && a.row_ptr[a.rows] == a.nnz() && a.val.size() == a.nnz());
  for (Index i = 0; i < a.rows; ++i) {
    insist(a.row_ptr[i] <= a.row_ptr[i + 1]);
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      insist(a.col[k] >= 0 && a.col[k] < a.cols && std::isfinite(a.val[k]));
      insist(k == a.row_ptr[i] || a.col[k - 1] < a.col[k]);
    }
  }
}

}  // namespace newel::fuzz
