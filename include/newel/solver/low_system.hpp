// SPDX-License-Identifier: Apache-2.0
/// A system in single precision that represents one in double.
#pragma once

#include <newel/spmv/operator.hpp>

namespace newel {

/// A is about `scale` times the matrix in double, M about the inverse of A. Both must outlive objects made from this.
template <Space S>
struct LowSystem {
  const LinearOperator<float, S>& A;  ///< in single precision
  const LinearOperator<float, S>* M;  ///< may be null
  double scale;                       ///< a power of two
};

}  // namespace newel
