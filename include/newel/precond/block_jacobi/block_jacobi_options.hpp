// SPDX-License-Identifier: Apache-2.0
/// BlockJacobiOptions: the options of block Jacobi.
#pragma once

namespace newel {

/// The options of block Jacobi.
struct BlockJacobiOptions {
  /// Rows of a block, 1 to 32; the last may have fewer. 0: blocks are runs of consecutive rows with the same columns,
  /// such as the rows of a node, at most 32.
  int rows = 0;
};

}  // namespace newel
