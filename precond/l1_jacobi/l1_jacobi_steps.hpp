// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of l1-Jacobi's setup, row by row, for both spaces. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// d_i = 1 / the sum of |values| of row i, or 1 where that is not finite or 0. Entry k is values[k], or
/// values[position[k]] if there are positions, and missing if all bits of its position are set. The sum is double.
template <class T, class Position>
struct L1RowStep : PlainStep {
  static constexpr bool uneven = true;
  static constexpr int weight = 8;
  const Offset* row_ptr;
  const Index* row_of;       ///< null: row i is i
  const Position* position;  ///< null: as the values are
  const T* values;
  T* d;
  L1RowStep(const Offset* row_ptr_, const Index* row_of_, const Position* position_, const T* values_, T* d_)
      : row_ptr(row_ptr_), row_of(row_of_), position(position_), values(values_), d(d_) {}

  NEWEL_HD double size_of(Offset k) const {
    if (position != nullptr && position[k] == static_cast<Position>(-1)) return 0;
    const double value = values[position != nullptr ? static_cast<Offset>(position[k]) : k];
    return value < 0 ? -value : value;
  }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const Index row = row_of != nullptr ? row_of[i] : static_cast<Index>(i);
    double sum = 0;
    for (Offset k = row_ptr[row]; k < row_ptr[row + 1]; ++k) sum += size_of(k);
    const T inverse = static_cast<T>(1 / sum);
    d[i] = inverse - inverse == T(0) && inverse != T(0) ? inverse : T(1);
  }
};

#define NEWEL_L1_JACOBI_STEPS(SWEEP)                     \
  SWEEP(newel::detail::L1RowStep<double, std::uint32_t>) \
  SWEEP(newel::detail::L1RowStep<double, newel::Offset>) \
  SWEEP(newel::detail::L1RowStep<float, std::uint32_t>)  \
  SWEEP(newel::detail::L1RowStep<float, newel::Offset>)

}  // namespace newel::detail
