// SPDX-License-Identifier: Apache-2.0
/// Where a row whose columns ascend has a column. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// The first place among col[begin .. end), which ascend, whose column is not below j; `end` where all are. Places
/// are counted by an Offset or by an Index.
template <class Place>
NEWEL_HD Place first_column_from(const Index* col, Place begin, Place end, Index j) {
  while (begin < end) {
    const Place middle = begin + (end - begin) / 2;
    if (col[middle] < j)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// The place of column j; -1 where it is not among them.
template <class Place>
NEWEL_HD Place find_column(const Index* col, Place begin, Place end, Index j) {
  const Place at = first_column_from(col, begin, end, j);
  return at < end && col[at] == j ? at : Place{-1};
}

}  // namespace newel::detail
