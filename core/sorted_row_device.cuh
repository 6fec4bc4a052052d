// SPDX-License-Identifier: Apache-2.0
/// Where a row whose columns ascend has a column, on a device. Internal.
#pragma once

#include <purlin/core/types.hpp>

namespace purlin::detail {

/// The place of column j among col[begin .. end), which ascend; -1 where it is not among them.
__device__ __forceinline__ Offset find_column(const Index* col, Offset begin, Offset end, Index j) {
  Offset low = begin, high = end;
  while (low < high) {
    const Offset middle = low + (high - low) / 2;
    if (col[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && col[low] == j ? low : Offset{-1};
}

}  // namespace purlin::detail
