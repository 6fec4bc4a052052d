// SPDX-License-Identifier: Apache-2.0
/// FsaiOptions: the options of FSAI, in addition to PatternOptions.
#pragma once

#include <newel/precond/pattern_options.hpp>

namespace newel {

/// The options of FSAI.
struct FsaiOptions {
  int power = 1;  ///< G has the pattern of the lower triangle of A^power; at least 1
  /// Internal: A is a product of matrices, symmetric except for rounding, which may be large compared with small
  /// entries. G is then computed from the lower triangle alone.
  bool symmetric_product = false;
};

}  // namespace newel
