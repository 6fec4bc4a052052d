// SPDX-License-Identifier: Apache-2.0
/// M x, as a plain vector.
#pragma once

#include <vector>

#include <newel/spmv/operator.hpp>

#include "tests/support.hpp"

namespace newel::testing {

template <class T, Space S>
std::vector<T> applied(const Context<S>& ctx, const LinearOperator<T, S>& m, const std::vector<T>& x) {
  const auto at_x = upload(ctx, x);
  auto y = poisoned<T>(ctx, m.rows());
  m.apply(ctx, T(1), at_x.cspan(), T(0), y.span());
  return download(ctx, y);
}

}  // namespace newel::testing
