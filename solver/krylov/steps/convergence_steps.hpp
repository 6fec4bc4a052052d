// SPDX-License-Identifier: Apache-2.0
/// Sums over a vector whose squares may leave the range. Internal.
#pragma once

#include <cmath>

#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// The sum of (x_i per_unit)^2.
template <class T>
struct ScaledSquares : PlainStep {
  static constexpr int sums = 1;
  const T* x;
  double per_unit;
  double* result;
  ScaledSquares(const T* x_, double per_unit_, double* result_) : x(x_), per_unit(per_unit_), result(result_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const double value = x[i] * per_unit;
    total.add(0, value * value);
  }
  NEWEL_HD void end(const double* totals) const { *result = totals[0]; }
};

/// The sum of absolute values, which distinguishes a vector of zeros from one whose squares underflow.
template <class T>
struct AbsSumStep : PlainStep {
  static constexpr int sums = 1;
  const T* x;
  double* result;
  AbsSumStep(const T* x_, double* result_) : x(x_), result(result_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const double value = x[i];
    total.add(0, value < 0 ? -value : value);
  }
  NEWEL_HD void end(const double* totals) const { *result = totals[0]; }
};

}  // namespace newel::detail
