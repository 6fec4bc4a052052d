// SPDX-License-Identifier: Apache-2.0
/// FSAI in a batch: the pattern of G and of its local problems, and how one of them is solved. Internal.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <newel/core/csr.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// Most entries of a row of G.
inline constexpr int most_fsai_row = 32;

/// An entry of a column of G: where it is, and its row.
struct FsaiPlace {
  int entry;
  Index row;
};

/// G has the lower triangle of the pattern and the whole diagonal; of a longer row the last `most_fsai_row` entries.
struct BatchedFsaiPattern {
  std::vector<int> first;     ///< of the rows + 1: their first entries in `column`
  std::vector<Index> column;  ///< ascending; the last one is the row itself
  /// Of the rows + 1: where their local problems begin in `local`, which has for each pair of a row's columns, row by
  /// row of the lower triangle, the position of the matrix entry, or -1 if there is none.
  std::vector<int> local_first, local;
  std::vector<int> transposed_first;  ///< of the columns + 1
  std::vector<FsaiPlace> transposed;  ///< rows ascend
  int longest = 0;                    ///< entries of a row

  BatchedFsaiPattern() = default;
  explicit BatchedFsaiPattern(const Pattern<Space::host>& matrix);

  Index rows() const { return first.empty() ? 0 : static_cast<Index>(first.size()) - 1; }
};

/// Entries of a local problem of m columns.
NEWEL_HD constexpr int fsai_local_size(int m) { return m * (m + 1) / 2; }

/// Replaces the last row of `a`, the lower triangle of A(J, J) row by row, by the row of G: with A(J, J) = L L^T it
/// solves L^T g = e_last (Kolotilina and Yeremin, SIAM J. Matrix Anal. Appl. 14, 1993). If A(J, J) is not positive
/// definite, up to rounding, or g not finite in T, only the diagonal is taken: 1 / sqrt(a_mm), or 1 if that is not a
/// positive number.
template <class T>
NEWEL_HD void solve_fsai_row(double* a, int m) {
  constexpr double zero_pivot = 0x1p-52;  // times the diagonal entry: perhaps rounding alone
  const auto row = [a](int i) { return a + i * (i + 1) / 2; };
  double* const g = row(m - 1);
  const T alone = static_cast<T>(1 / sqrt(g[m - 1]));
  bool sound = true;
  for (int i = 0; i < m && sound; ++i) {
    double* const of_i = row(i);
    const double before = of_i[i];
    for (int j = 0; j <= i; ++j) {
      const double* const of_j = row(j);
      double sum = of_i[j];
      for (int k = 0; k < j; ++k) sum -= of_i[k] * of_j[k];
      of_i[j] = j < i ? sum * of_j[j] : sum;
    }
    sound = of_i[i] > zero_pivot * before;
    of_i[i] = 1 / sqrt(of_i[i]);  // the inverse of L's diagonal entry
  }
  for (int k = m - 2; k >= 0; --k) {  // g takes the place of L's last row, from its end
    double sum = g[k] * g[m - 1];
    for (int j = k + 1; j < m - 1; ++j) sum += row(j)[k] * g[j];
    g[k] = -sum * row(k)[k];
  }
  for (int k = 0; k < m; ++k) {
    const T rounded = static_cast<T>(g[k]);
    sound = sound && rounded - rounded == 0;
  }
  if (sound) return;
  for (int k = 0; k < m - 1; ++k) g[k] = 0;
  g[m - 1] = alone - alone == 0 && alone > 0 ? static_cast<double>(alone) : 1.0;
}

}  // namespace newel::detail
