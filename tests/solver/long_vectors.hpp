// SPDX-License-Identifier: Apache-2.0
/// Vectors in long double, in which tests follow a method as its book has it.
#pragma once

#include "tests/solver/systems.hpp"

namespace newel::testing {

using Vector = std::vector<long double>;

inline long double dot_of(const Vector& x, const Vector& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// y = A x.
inline Vector times(const Rows& a, const Vector& x) {
  Vector y(x.size(), 0.0L);
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (const auto& [j, value] : a.row[i]) y[i] += value * x[static_cast<std::size_t>(j)];
  }
  return y;
}

}  // namespace newel::testing
