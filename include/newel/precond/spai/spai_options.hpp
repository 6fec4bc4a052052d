// SPDX-License-Identifier: Apache-2.0
/// SpaiOptions: the options of SPAI, and of its diagonal variant, which only has a side.
#pragma once

#include <newel/precond/pattern_options.hpp>

namespace newel {

/// The options of SPAI.
struct SpaiOptions {
  /// The product that approximates the identity: A M (right) or M A (left).
  PrecondSide side = PrecondSide::right;
  /// M has the pattern of A^power; at least 1.
  int power = 1;
  /// The pattern grows where the residual of a column (right) or row (left) exceeds this value (Grote and Huckle). 0:
  /// fixed pattern.
  double adaptive = 0;
};

}  // namespace newel
