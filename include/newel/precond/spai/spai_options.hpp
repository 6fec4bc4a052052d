// SPDX-License-Identifier: Apache-2.0
/// SpaiOptions: the choices of SPAI, and of its diagonal relative, which has a side alone.
#pragma once

#include <newel/precond/pattern_options.hpp>

namespace newel {

/// The options of SPAI.
struct SpaiOptions {
  /// The product that comes close to the identity: A M, or M A.
  PrecondSide side = PrecondSide::right;
  /// M has the pattern of A^power, at least 1.
  int power = 1;
  /// The pattern grows where the residual of a column (row) exceeds this (Grote and Huckle). 0: it is static.
  double adaptive = 0;
};

}  // namespace newel
