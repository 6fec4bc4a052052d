// SPDX-License-Identifier: Apache-2.0
/// ColumnLanes: the k values that a row of a batch holds, in registers. Internal.
#pragma once

#include <cstring>

namespace newel::detail {

/// One number a column. Registers of 32 bytes, which machines without them treat as two.
template <class T, int k>
struct ColumnLanes {
  static constexpr int width = k * sizeof(T) < 32 ? k : 32 / static_cast<int>(sizeof(T));
  static constexpr int parts = k / width;
  typedef T Vector __attribute__((vector_size(width * sizeof(T))));
  Vector part[parts] = {};

  /// Column c adds value x[c].
  void add_product(T value, const T* x) {
    for (int p = 0; p < parts; ++p) {
      Vector from;
      std::memcpy(&from, x + p * width, sizeof from);
      part[p] += value * from;
    }
  }
  void add(const ColumnLanes& other) {
    for (int p = 0; p < parts; ++p) part[p] += other.part[p];
  }
  void store(T* to) const { std::memcpy(to, part, sizeof part); }
};

/// x.y for each column, in double.
template <int k>
struct ColumnDots {
  ColumnLanes<double, k> sum;

  /// Column c adds x[c] y[c].
  template <class T>
  void add_products(const T* x, const T* y) {
    constexpr int width = ColumnLanes<double, k>::width;
    double wide_x[k], wide_y[k];
    for (int c = 0; c < k; ++c) wide_x[c] = static_cast<double>(x[c]), wide_y[c] = static_cast<double>(y[c]);
    for (int p = 0; p < ColumnLanes<double, k>::parts; ++p) {
      typename ColumnLanes<double, k>::Vector a, b;
      std::memcpy(&a, wide_x + p * width, sizeof a);
      std::memcpy(&b, wide_y + p * width, sizeof b);
      sum.part[p] += a * b;
    }
  }
  void store(double* to) const { sum.store(to); }
};

}  // namespace newel::detail
