// SPDX-License-Identifier: Apache-2.0
/// What loops over several interleaved vectors are handed, as `product.hpp` is for one. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// Y = alpha A X + beta Y; with beta = 0, Y is not read. Where `xy` is not null, x.y of each column is left there too
/// (alpha is then 1 and beta 0).
template <class T>
struct ColumnProductArgs {
  T alpha;
  const T* x;
  T beta;
  T* y;
  double* xy;
  char* work;  ///< what the format asks for
};

/// alpha sum + beta y[at] as it is written.
template <class T>
NEWEL_HD T row_result(const ColumnProductArgs<T>& args, T sum, std::int64_t at) {
  const T product = args.alpha * sum;
  return args.beta == T(0) ? product : product + args.beta * args.y[at];
}

}  // namespace newel::detail
