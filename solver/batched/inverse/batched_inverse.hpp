// SPDX-License-Identifier: Apache-2.0
/// The inverse of a diagonal block, in place, for block Jacobi in a batch. Internal.
#pragma once

#include <cmath>
#include <limits>

#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// Kernels may read it, not call the function.
template <class T>
inline constexpr T batched_epsilon = std::numeric_limits<T>::epsilon();

/// Most rows of a block.
inline constexpr int most_batched_block = 32;

/// 1 / entry, or 1 if that is not finite or is zero.
template <class T>
NEWEL_HD T inverse_or_one(T entry) {
  const T inverse = T(1) / entry;
  return inverse - inverse == 0 && inverse != 0 ? inverse : T(1);
}

/// Replaces the m x m matrix a, whose entry (i, j) is a[(i width + j) stride], by its inverse, or by the inverse of
/// its diagonal if a pivot is rounding. Gauss-Jordan elimination with row pivoting.
template <class T>
NEWEL_HD void invert_batched_block(T* a, int m, int width, int stride) {
  const auto at = [=](int i, int j) -> T& { return a[(i * width + j) * stride]; };
  if (m == 1) {
    at(0, 0) = inverse_or_one(at(0, 0));
    return;
  }
  T diagonal[most_batched_block];
  int pivot[most_batched_block];
  T size = 0;
  for (int i = 0; i < m; ++i) {
    diagonal[i] = at(i, i);
    for (int j = 0; j < m; ++j) size = fmax(size, fabs(at(i, j)));
  }
  const T least = static_cast<T>(m) * batched_epsilon<T> * size;
  bool regular = size - size == 0;
  for (int k = 0; k < m && regular; ++k) {
    pivot[k] = k;
    for (int i = k + 1; i < m; ++i) {
      if (fabs(at(i, k)) > fabs(at(pivot[k], k))) pivot[k] = i;
    }
    regular = fabs(at(pivot[k], k)) > least;
    if (!regular) break;
    for (int j = 0; j < m && pivot[k] != k; ++j) {
      const T other = at(k, j);
      at(k, j) = at(pivot[k], j);
      at(pivot[k], j) = other;
    }
    const T scale = T(1) / at(k, k);
    at(k, k) = T(1);
    for (int j = 0; j < m; ++j) at(k, j) *= scale;
    for (int i = 0; i < m; ++i) {
      if (i == k) continue;
      const T factor = at(i, k);
      at(i, k) = T(0);
      for (int j = 0; j < m; ++j) at(i, j) -= factor * at(k, j);
    }
  }
  for (int k = m - 1; k >= 0 && regular; --k) {  // undo the row exchanges, as exchanges of columns
    for (int i = 0; i < m && pivot[k] != k; ++i) {
      const T other = at(i, k);
      at(i, k) = at(i, pivot[k]);
      at(i, pivot[k]) = other;
    }
  }
  for (int i = 0; i < m && regular; ++i) {
    for (int j = 0; j < m; ++j) regular = regular && at(i, j) - at(i, j) == 0;
  }
  for (int i = 0; i < m && !regular; ++i) {
    for (int j = 0; j < m; ++j) at(i, j) = i == j ? inverse_or_one(diagonal[i]) : T(0);
  }
}

}  // namespace newel::detail
