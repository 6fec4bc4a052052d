// SPDX-License-Identifier: Apache-2.0
// Two lines, and where they cross.
#include "break_even.hpp"

#include <cmath>

namespace newel::cli {

std::optional<double> break_even(double setup, double product, double other_setup, double other_product) {
  if (!(product < other_product)) return std::nullopt;
  if (setup < other_setup) return 0;
  return std::floor((setup - other_setup) / (other_product - product)) + 1;
}

}  // namespace newel::cli
