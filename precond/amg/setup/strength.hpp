// SPDX-License-Identifier: Apache-2.0
/// Strength of connection: which nodes of a matrix may share an aggregate. Internal.
#pragma once

#include <cmath>

#include "core/vectors/host_device.hpp"
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

template <Space S>
struct Strength {
  /// The strong neighbours of each node, without the node itself; symmetric: j stands in row i where i does in row j.
  BlockPattern<S> graph;
  /// For each block of the matrix, whether it belongs to the filtered matrix: strong ones and those on the diagonal.
  StageArray<unsigned char, S> kept;
  bool all_kept = false;  ///< whether no block is weak
  /// Nodes that the smoother alone takes care of: without strong neighbours and with a diagonal block that outweighs
  /// all others of its row, such as Dirichlet rows.
  StageArray<unsigned char, S> left_out;
};

/// The symmetric measure on blocks (P. Vanek, J. Mandel, M. Brezina, Computing 56, 1996): i and j are strongly
/// connected where |A_ij|^2 >= theta^2 |A_ii| |A_jj| or |A_ji| is that large, in Frobenius norms; blocks of zeros
/// never are. The ratio is rounded to 16 bits before it is compared, so that values that differ only by the order of
/// their sums are decided alike.
Strength<Space::host> find_strength(const HostContext& ctx, const HostBlockCsr& a, double theta);
/// The same for the rows of a rank: columns from a.pattern.rows on are nodes of other ranks, and `diagonal` has the
/// norms of the diagonal blocks of all columns. Their blocks are judged by the row alone. They count for what is left
/// out, and are not in the graph.
Strength<Space::host> find_strength(const HostContext& ctx, const HostBlockCsr& a, double theta,
                                    const std::vector<double>& diagonal);
/// The pattern is symmetric, as make_block_csr makes it on a device; of a rank that of its own columns.
Strength<Space::device> find_strength(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double theta);
Strength<Space::device> find_strength(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double theta,
                                      const Array<double, Space::device>& diagonal);

/// The Frobenius norm of each row's diagonal block, 0 where it has none.
std::vector<double> diagonal_norms(const HostContext& ctx, const HostBlockCsr& a);
Array<double, Space::device> diagonal_norms(const DeviceContext& ctx, const BlockCsr<Space::device>& a);

/// A row whose other blocks sum to no more than this share of its diagonal block is smoothed without a coarse grid.
inline constexpr double dominated_share = 0.5;

NEWEL_HD double rounded_to_16_bits(double value) {
  int exponent = 0;
  const double fraction = frexp(value, &exponent);
  return ldexp(round(ldexp(fraction, 16)), exponent - 16);
}

/// Whether a ratio, rounded to 16 bits, reaches a rounded bound; rounding decides only next to it.
NEWEL_HD bool reaches(double ratio, double bound) {
  constexpr double margin = 1.0 / 4096;
  if (ratio > bound * (1 + margin)) return true;
  return ratio >= bound * (1 - margin) && rounded_to_16_bits(ratio) >= bound;
}

}  // namespace newel::detail
