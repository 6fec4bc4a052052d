// SPDX-License-Identifier: Apache-2.0
/// What every format's loops are handed, and the two lines that they all end a row with. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// y = alpha A x + beta y; with beta = 0, y is not read. Where `xy` is not null, x.y is left there too (alpha is then
/// 1 and beta 0).
template <class T>
struct ProductArgs {
  T alpha;
  const T* x;
  T beta;
  T* y;
  double* xy;
};

/// alpha * sum + beta * y as it is written to a row, where y holds `before`.
template <class T>
NEWEL_HD T row_result_of(const ProductArgs<T>& args, T sum, T before) {
  const T product = args.alpha * sum;
  return args.beta == T(0) ? product : product + args.beta * before;
}

/// The same for row i.
template <class T>
NEWEL_HD T row_result(const ProductArgs<T>& args, T sum, std::int64_t i) {
  return row_result_of(args, sum, args.beta == T(0) ? T(0) : args.y[i]);
}

}  // namespace newel::detail
