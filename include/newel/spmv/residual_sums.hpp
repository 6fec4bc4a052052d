// SPDX-License-Identifier: Apache-2.0
/// Norms and error bounds of a residual that an operator computes in twice the working precision. Internal.
#pragma once

namespace newel::detail {

/// Scaling of a residual.
struct ResidualScale {
  double unit = 1;                ///< a power of two near the expected norms; values are divided by it before they
                                  ///< are summed
  const double* x_max = nullptr;  ///< in S: max |x_j|
};

/// Properties of r = b - A x, summed over all rows.
struct ResidualSums {
  double square = 0;         ///< sum of (r_i / unit)^2
  double sum = 0;            ///< sum of |r_i| / unit
  double error_sum = 0;      ///< sum of e_i / unit, where |r_i - (b - A x)_i| <= e_i
  double beyond_square = 0;  ///< sum of (b_i / unit)^2 over rows whose entries are all zero: no x changes it
  double worst_row = 0;      ///< max of |r_i| / (sum_j |a_ij| x_max + |b_i|), where 0/0 = 0
  double x_max = 0;          ///< as given in ResidualScale
};

}  // namespace newel::detail
