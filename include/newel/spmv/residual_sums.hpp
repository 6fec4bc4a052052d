// SPDX-License-Identifier: Apache-2.0
/// What an operator says of a residual that it forms in twice the working precision. Internal.
#pragma once

namespace newel::detail {

/// How a residual is to be judged.
struct ResidualScale {
  double unit = 1;                ///< a power of two near the norms that are expected: sums are of numbers over it
  const double* x_max = nullptr;  ///< in S: max |x_j|
};

/// What is known of r = b - A x in addition to the vector, rows taken together.
struct ResidualSums {
  double square = 0;         ///< sum of (r_i / unit)^2
  double sum = 0;            ///< sum of |r_i| / unit
  double error_sum = 0;      ///< sum of e_i / unit, where |r_i - (b - A x)_i| <= e_i
  double beyond_square = 0;  ///< sum of (b_i / unit)^2 over the rows whose entries are all zero: no x changes it
  double worst_row = 0;      ///< max of |r_i| / (sum_j |a_ij| x_max + |b_i|), 0/0 being 0
  double x_max = 0;          ///< as it was given
};

}  // namespace newel::detail
