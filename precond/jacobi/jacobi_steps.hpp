// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of Jacobi's setup, row by row, for both spaces. Internal.
#pragma once

#include <cmath>

#include <newel/core/csr.hpp>
#include "core/csr/sorted_row.hpp"
#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// Where each row's diagonal entry stands among the entries, all bits set where it is missing.
template <class RowPtr, class Position>
struct FindDiagonalStep : PlainStep {
  const RowPtr* row_ptr;
  const Index* col;
  Position* position;
  FindDiagonalStep(const RowPtr* row_ptr_, const Index* col_, Position* position_)
      : row_ptr(row_ptr_), col(col_), position(position_) {}

  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    const auto row = static_cast<Index>(i);
    position[i] = static_cast<Position>(find_column<Offset>(col, row_ptr[i], row_ptr[i + 1], row));
  }
};

/// 1 where a number has no finite inverse that is not 0.
template <class T>
NEWEL_HD double has_no_inverse(T inverse) {
  return inverse - inverse == T(0) && inverse != T(0) ? 0.0 : 1.0;  // infinity and NaN: their difference is NaN
}

/// 1 where an entry differs from the first by more than half a percent. A diagonal of which none does changes the
/// condition by less than a percent.
template <class T>
NEWEL_HD double differs(T own, T first) {
  constexpr T hardly = T(0.005);
  const T apart = own > first ? own - first : first - own;
  return apart <= hardly * (first < 0 ? -first : first) ? 0.0 : 1.0;
}

/// d_i = 1 / values[position_i], 0 in the place of a value that is missing (all bits set). Counts the inverses that
/// are not finite, and those that differ from the first.
template <class T, class Position>
struct TakeInverseStep : PlainStep {
  static constexpr int sums = 2;
  const T* values;
  const Position* position;
  T* d;
  double* counts;
  TakeInverseStep(const T* values_, const Position* position_, T* d_, double* counts_)
      : values(values_), position(position_), d(d_), counts(counts_) {}
  NEWEL_HD T inverse(std::int64_t i) const {
    const Position at = position[i];
    return T(1) / (at == static_cast<Position>(-1) ? T(0) : values[at]);
  }
  NEWEL_HD T begin() const { return inverse(0); }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, T first, Sums& total) const {
    const T own = inverse(i);
    d[i] = own;
    total.add(0, has_no_inverse(own));
    total.add(1, differs(own, first));
  }
  NEWEL_HD void end(const double* totals) const {
    counts[0] = totals[0];
    counts[1] = totals[1];
  }
};

/// d_i = 1 / d_i, counting those whose inverse is not finite.
template <class T>
struct InvertStep : PlainStep {
  static constexpr int sums = 1;
  T* d;
  double* refused;
  InvertStep(T* d_, double* refused_) : d(d_), refused(refused_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums& total) const {
    const T inverse = T(1) / d[i];
    d[i] = inverse;
    total.add(0, has_no_inverse(inverse));
  }
  NEWEL_HD void end(const double* totals) const { *refused = totals[0]; }
};

/// Counts the d_i that differ from the first of them, which `first_` points to.
template <class T>
struct DifferingStep : PlainStep {
  static constexpr int sums = 1;
  const T* d;
  const T* first_entry;
  double* differing;
  DifferingStep(const T* d_, const T* first_, double* differing_)
      : d(d_), first_entry(first_), differing(differing_) {}
  NEWEL_HD T begin() const { return *first_entry; }
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, T first, Sums& total) const {
    total.add(0, differs(d[i], first));
  }
  NEWEL_HD void end(const double* totals) const { *differing = totals[0]; }
};

#define NEWEL_TAKE_INVERSE_STEPS_OF(SWEEP, T)             \
  SWEEP(newel::detail::TakeInverseStep<T, std::uint32_t>) \
  SWEEP(newel::detail::TakeInverseStep<T, Offset>)
#define NEWEL_FIND_DIAGONAL_STEPS_OF(SWEEP, Position)            \
  SWEEP(newel::detail::FindDiagonalStep<std::int32_t, Position>) \
  SWEEP(newel::detail::FindDiagonalStep<Offset, Position>)
#define NEWEL_JACOBI_STEPS(SWEEP)                    \
  NEWEL_FIND_DIAGONAL_STEPS_OF(SWEEP, std::uint32_t) \
  NEWEL_FIND_DIAGONAL_STEPS_OF(SWEEP, Offset)        \
  NEWEL_TAKE_INVERSE_STEPS_OF(SWEEP, double)         \
  NEWEL_TAKE_INVERSE_STEPS_OF(SWEEP, float)          \
  SWEEP(newel::detail::InvertStep<double>)           \
  SWEEP(newel::detail::InvertStep<float>)            \
  SWEEP(newel::detail::DifferingStep<double>)        \
  SWEEP(newel::detail::DifferingStep<float>)

}  // namespace newel::detail
