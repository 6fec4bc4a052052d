// SPDX-License-Identifier: Apache-2.0
/// The rules for pivots, for both spaces. Internal.
#pragma once

#include "core/vectors/host_device.hpp"
#include "precond/incomplete/factor_view.hpp"

namespace newel::detail {

template <class T>
NEWEL_HD T magnitude(T value) {
  return value < T(0) ? -value : value;
}

template <class T>
NEWEL_HD bool is_finite(T value) {
  return value - value == T(0);
}

/// What the diagonal entry of a row becomes before the factorisation; `sum`: of the row's |a_ij|.
template <class T>
NEWEL_HD T shifted(T diagonal, T sum, const FactorView<T>& f) {
  if (f.shift == 0) return diagonal;
  const T by = static_cast<T>(f.shift) * (f.positive ? magnitude(diagonal) : sum);
  return diagonal < T(0) ? diagonal - by : diagonal + by;
}

/// The pivot that is used instead of `pivot`, which may be the same; `largest`: of the row's |a_ij|.
template <class T>
NEWEL_HD T bounded_pivot(T pivot, T largest) {
  if (largest == T(0)) return pivot == T(0) ? T(1) : pivot;
  const T least = static_cast<T>(least_pivot) * largest;
  if (!(magnitude(pivot) < least)) return pivot;
  return pivot < T(0) ? -least : least;
}

/// Whether a symmetric matrix may have this pivot; `diagonal`: what elimination began with.
template <class T>
NEWEL_HD bool positive_pivot(T pivot, T diagonal) {
  return pivot > static_cast<T>(least_positive_pivot) * magnitude(diagonal);
}

}  // namespace newel::detail
