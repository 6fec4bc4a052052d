// SPDX-License-Identifier: Apache-2.0
/// CouplingTraits: what entries off the diagonal say of a symmetric matrix with a positive diagonal. Internal.
#pragma once

#include <newel/core/csr.hpp>

namespace newel::detail {

struct CouplingTraits {
  /// The positive entries off the diagonal over all, in sums of their sizes: 0 for an M-matrix.
  double positive = 0;
  /// Rows of a node, if they look like displacements (`guessed_node_rows`), else 1.
  int node_rows = 1;

  /// Whether AMG serves it as it serves diffusion, if row sums are zero too.
  bool scalar() const;
};

/// Of a sample of at most 4,096 rows.
template <class T>
CouplingTraits coupling_traits(const CsrView<T, Space::host>& a);

}  // namespace newel::detail
