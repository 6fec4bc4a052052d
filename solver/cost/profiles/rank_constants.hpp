// SPDX-License-Identifier: Apache-2.0
/// The constants of decisions of ranks. Internal.
#pragma once

namespace newel::detail {

/// Where rows of ranks on devices stay in CSR. For generate:elasticity:130 on two H200 plan and format of EHYB take
/// 0.107 s, and a product 0.31 ms instead of 0.48. A cycle of AMG has four products more with the first level.
struct RankFormats {
  static constexpr double few_products = 160;  ///< in all, for which EHYB is not planned
  static constexpr double with_simple = 1000;  ///< iterations of a solve with Jacobi, of which M has to leave so few
};

}  // namespace newel::detail
