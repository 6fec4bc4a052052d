// SPDX-License-Identifier: Apache-2.0
/// How AMG will smooth the first level of a matrix, before anything is set up: for the seconds of its setup.
/// Internal.
#pragma once

#include <newel/core/context.hpp>
#include <newel/core/csr.hpp>

namespace newel::detail {

/// What a look at the values tells of the first level's smoother.
struct SparseSmoothing {
  bool fsai = false;      ///< FSAI smooths it
  double operations = 0;  ///< of its local problems on groups of tied nodes, about; 0: it takes the pattern of A
};

/// Operations of the local problems where `members` nodes of a matrix with so many rows are in groups, about; the
/// rows of a node share one.
double operations_in_groups(Index rows, Index members);

/// Of a symmetric A whose nodes have `node_rows` rows, one after the other: as the setup sees it, but for blocks in
/// which the first row of a node has no entry. O(entries). On a device waits for the stream, up to three times.
template <class T>
SparseSmoothing expected_smoothing(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, int node_rows);
template <class T>
SparseSmoothing expected_smoothing(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                                   int node_rows);

/// |A - A^T| / (2 |A|) in the Frobenius norm, without the diagonal blocks of nodes, as `antisymmetric_share` of a first
/// level: by which that is smoothed by SPAI. On a host of at most 16,384 rows, evenly spread;
/// of the entries of this rank.
template <class T>
double expected_antisymmetry(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, int node_rows);
template <class T>
double expected_antisymmetry(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a, int node_rows);

}  // namespace newel::detail
