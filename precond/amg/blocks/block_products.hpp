// SPDX-License-Identifier: Apache-2.0
/// Products of small dense blocks, to be compiled into the loops that call them. Internal.
#pragma once

namespace newel::detail {

/// c += a b, a of m x n (with `transposed`: a^T b, a of n x m), b of n x k; all row by row.
template <int m, int n, int k, bool transposed>
inline void add_fixed_product(const double* a, const double* b, double* c) {
  for (int i = 0; i < m; ++i) {
    double row[k];
    for (int l = 0; l < k; ++l) row[l] = c[i * k + l];
    for (int j = 0; j < n; ++j) {
      const double value = transposed ? a[j * m + i] : a[i * n + j];
      for (int l = 0; l < k; ++l) row[l] += value * b[j * k + l];
    }
    for (int l = 0; l < k; ++l) c[i * k + l] = row[l];
  }
}

/// The same for sizes that are known at run time; those that occur most have loops of fixed lengths.
template <bool transposed>
inline void add_block_product(int m, int n, int k, const double* a, const double* b, double* c) {
  if (m == 1 && n == 1 && k == 1) return add_fixed_product<1, 1, 1, transposed>(a, b, c);
  if (m == 3 && n == 3 && k == 3) return add_fixed_product<3, 3, 3, transposed>(a, b, c);
  if (m == 3 && n == 3 && k == 6) return add_fixed_product<3, 3, 6, transposed>(a, b, c);
  if (m == 3 && n == 6 && k == 6) return add_fixed_product<3, 6, 6, transposed>(a, b, c);
  if (m == 6 && n == 3 && k == 6) return add_fixed_product<6, 3, 6, transposed>(a, b, c);
  if (m == 6 && n == 6 && k == 6) return add_fixed_product<6, 6, 6, transposed>(a, b, c);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      const double value = transposed ? a[j * m + i] : a[i * n + j];
      for (int l = 0; l < k; ++l) c[i * k + l] += value * b[j * k + l];
    }
  }
}

}  // namespace newel::detail
