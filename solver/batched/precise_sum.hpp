// SPDX-License-Identifier: Apache-2.0
/// PreciseSum: the sum of a row of b - A x in twice the precision of T. Internal.
#pragma once

#include <type_traits>

#include "core/vectors/twice_sum.hpp"

namespace newel::detail {

/// Products of floats are exact in double. Those of doubles, and the rounding of their sum, are added up by
/// themselves (Ogita, Rump and Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005, algorithm 5.3).
template <class T>
struct PreciseSum {
  double hi = 0, lo = 0;

  NEWEL_HD void add_product(T a, T x, [[maybe_unused]] double minus_zero) {
    if constexpr (std::is_same_v<T, float>) {
      hi += static_cast<double>(a) * static_cast<double>(x);
    } else {
      const double product = rounded_product(a, x, minus_zero);
      const double error = fma(a, x, -product);
      const double sum = hi + product, part = sum - hi;
      lo += ((hi - (sum - part)) + (product - part)) + error;
      hi = sum;
    }
  }

  NEWEL_HD double value() const { return hi + lo; }
};

}  // namespace newel::detail
