// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of column_ops.hpp, element by element, for both spaces. Internal.
#pragma once

#include "core/vectors/column_step.hpp"
#include "core/vectors/vector_step.hpp"

namespace newel::detail {

/// to[i to_stride] = from[i from_stride]
template <class T>
struct StridedCopyStep : PlainStep {
  const T* from;
  std::int64_t from_stride;
  T* to;
  std::int64_t to_stride;
  StridedCopyStep(const T* from_, std::int64_t from_stride_, T* to_, std::int64_t to_stride_)
      : from(from_), from_stride(from_stride_), to(to_), to_stride(to_stride_) {}
  template <class Sums>
  NEWEL_HD void element(std::int64_t i, NoCoefficients, Sums&) const {
    to[i * to_stride] = from[i * from_stride];
  }
};

/// x_c.y_c
template <class T, int k>
struct ColumnDotStep {
  using Value = T;
  static constexpr int columns = k, sums = 1, coefficients = 0;
  const T *x, *y;
  double* result;

  template <class V>
  struct Loaded {
    V x, y;
  };
  NEWEL_HD bool active(int) const { return true; }
  template <class C>
  NEWEL_HD void begin(int, C&&) const {}
  template <class Lanes>
  NEWEL_HD void load(const Lanes& lanes, std::int64_t at, std::int64_t, Loaded<typename Lanes::V>& l) const {
    lanes.read(x, at, l.x);
    lanes.read(y, at, l.y);
  }
  template <class Lanes, class C, class Sums>
  NEWEL_HD void finish(const Lanes&, std::int64_t, const Loaded<typename Lanes::V>& loaded, const C&,
                       Sums& total) const {
    total.add(0, loaded.x, loaded.y);
  }
  NEWEL_HD void end(int c, const double* totals) const { result[c] = totals[0]; }
};

#define NEWEL_COLUMN_OPS_STEPS(COLUMNS, T)    \
  COLUMNS(newel::detail::ColumnDotStep<T, 1>) \
  COLUMNS(newel::detail::ColumnDotStep<T, 2>) \
  COLUMNS(newel::detail::ColumnDotStep<T, 4>) \
  COLUMNS(newel::detail::ColumnDotStep<T, 8>)

}  // namespace newel::detail
