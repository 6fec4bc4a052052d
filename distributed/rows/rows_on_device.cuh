// SPDX-License-Identifier: Apache-2.0
/// A rank's rows as kernels read them. Internal.
#pragma once

#include "core/csr/sorted_row.hpp"
#include "distributed/rows/rows_on_device.hpp"

namespace newel::detail {

struct NumberedView {
  const Offset* __restrict__ row_ptr;
  const Index* __restrict__ col;
  Index rows, lower;

  explicit NumberedView(const NumberedColumns& a)
      : row_ptr(a.row_ptr.data()), col(a.col.data()), rows(a.rows()), lower(a.lower) {}
  __device__ Offset begin(Index row) const { return row_ptr[row]; }
  __device__ Offset end(Index row) const { return row_ptr[row + 1]; }
  /// The first entry of a row that is not in a column of a lower rank. Columns ascend from there on.
  __device__ Offset first_own(Index row) const {
    Offset low = row_ptr[row], high = row_ptr[row + 1];
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      if (col[middle] >= rows && col[middle] < rows + lower)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// The entry of a row in a column of this rank; -1: none.
  __device__ Offset find_own(Index row, Index j) const { return find_column(col, first_own(row), end(row), j); }
};

}  // namespace newel::detail
