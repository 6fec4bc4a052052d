// SPDX-License-Identifier: Apache-2.0
/// Where a row whose columns ascend has a column, on a device. Internal.
#pragma once

#include <purlin/core/types.hpp>

namespace purlin::detail {

/// The place of column j among col[begin .. end), which ascend; -1 where it is not among them. Places are counted by
/// an Offset or by an Index.
template <class Place>
__device__ __forceinline__ Place find_column(const Index* col, Place begin, Place end, Index j) {
  Place low = begin, high = end;
  while (low < high) {
    const Place middle = low + (high - low) / 2;
    if (col[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && col[low] == j ? low : Place{-1};
}

}  // namespace purlin::detail
