// SPDX-License-Identifier: Apache-2.0
/// Vectors that probe an operator. Internal.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <purlin/core/types.hpp>

namespace purlin::detail {

/// 1 and -1 without a pattern that a matrix could share; the same on every machine.
template <class T>
std::vector<T> random_signs(Index n, std::uint64_t seed) {
  std::vector<T> signs(static_cast<std::size_t>(n));
  std::mt19937_64 draw(seed);
  for (T& sign : signs) sign = draw() % 2 == 0 ? T(1) : T(-1);
  return signs;
}

}  // namespace purlin::detail
