// SPDX-License-Identifier: Apache-2.0
/// Whether x solves every row of a system to rounding. Internal.
#pragma once

#include <limits>

#include "solver/krylov/monitor/true_residual.hpp"

namespace newel::detail {

/// By a residual that is no rounding itself: no x of this precision does much better, unless it has grown so far that
/// any would look like that.
template <class T>
bool rows_are_solved(const TrueResidual& residual, double rhs_norm) {
  constexpr double of_row = 256 * static_cast<double>(std::numeric_limits<T>::epsilon()), most_of_rhs = 1e-2;
  return residual.proven && residual.worst_row <= of_row && residual.norm <= most_of_rhs * rhs_norm;
}

}  // namespace newel::detail
