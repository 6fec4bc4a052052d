// SPDX-License-Identifier: Apache-2.0
/// ConvectionTraits: how convection shows in the values of a matrix. Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

struct ConvectionTraits {
  /// |A - A^T| / (2 |A|) in the Frobenius norm, without the diagonal: 0 if A is symmetric, 1 if it is skew.
  double antisymmetric = 0;
  /// The share of rows on or between closed ways along the flow; 0 if all of the flow enters and leaves.
  double circulating = 0;

  /// Whether convection decides how hard a solve is, and not diffusion.
  bool prevails() const;
  /// Whether the flow has closed streamlines, which a Krylov method has to travel many times.
  bool circulates() const;
};

/// Row i is downstream from row j if a_ij is more negative than a_ji by a quarter of their sizes. Rows that are
/// downstream from none, or that have none downstream, are removed until there are none; the rest circulates. Columns
/// are sorted. Entries without an opposite count for the first number only. O(nnz), sequential.
template <class T>
ConvectionTraits convection_traits(const CsrView<T, Space::host>& a);

}  // namespace newel::detail
