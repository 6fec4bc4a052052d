// SPDX-License-Identifier: Apache-2.0
/// FsaiOptions: the choices of FSAI, beside those that all patterns have.
#pragma once

#include <newel/precond/pattern_options.hpp>

namespace newel {

/// The options of FSAI.
struct FsaiOptions {
  int power = 1;  ///< G has the pattern of the lower triangle of A^power, at least 1
  /// Internal: A is a product of matrices that is symmetric but for its rounding, which may be large beside small
  /// entries. G is made of the lower triangle alone.
  bool symmetric_product = false;
};

}  // namespace newel
