// SPDX-License-Identifier: Apache-2.0
/// How much a_ij and a_ji differ, by the size of what stands in rows i and j. Internal.
#pragma once

#include <cmath>

#include <newel/core/csr.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// 1 / sqrt(largest) of a row whose largest entry that is; infinite for a row of zeros.
NEWEL_HD double row_scale(double largest) { return 1 / sqrt(largest); }

/// |a_ij - a_ji|, which is not 0, over the root of the largest entries of rows i and j, by the scales of these; at
/// most 2. 0 where an infinity or NaN stands in them.
///
/// The root, because D A D has the same for any diagonal D, but for a largest entry off the diagonal; and because the
/// rounding of an assembled entry, a sum of w_k b_ki b_kj with positive weights, is below so many eps times the root
/// of a_ii a_jj, however different the units of rows i and j are.
NEWEL_HD double relative_asymmetry(double difference, double scale_i, double scale_j) {
  constexpr double most = 2;
  const double ratio = difference * scale_i * scale_j;
  return ratio < most ? ratio : ratio >= most ? most : 0.0;
}

/// The scale of each row of `a`. Reads the values once.
template <class T>
Array<double, Space::host> row_scales(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a);

}  // namespace newel::detail
