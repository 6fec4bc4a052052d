// SPDX-License-Identifier: Apache-2.0
/// Strength of connection: which nodes of a matrix may share an aggregate. Internal.
#pragma once

#include <vector>

#include <purlin/precond/amg/block_csr.hpp>

namespace purlin::detail {

struct Strength {
  /// The strong neighbours of each node, without the node itself; symmetric: j stands in row i where i does in row j.
  BlockPattern graph;
  /// For each block of the matrix, whether it belongs to the filtered matrix: strong ones and those on the diagonal.
  std::vector<unsigned char> kept;
  /// Nodes that the smoother alone takes care of: without strong neighbours and with a diagonal block that outweighs
  /// all others of its row, such as Dirichlet rows.
  std::vector<unsigned char> left_out;
};

/// The symmetric measure on blocks (P. Vanek, J. Mandel, M. Brezina, Computing 56, 1996): i and j are strongly
/// connected where |A_ij|^2 >= theta^2 |A_ii| |A_jj| or |A_ji| is that large, in Frobenius norms; blocks of zeros
/// never are. The ratio is rounded to 16 bits before it is compared, so that values that differ only by the order of
/// their sums are decided alike.
Strength find_strength(const HostContext& ctx, const BlockCsr& a, double theta);

}  // namespace purlin::detail
