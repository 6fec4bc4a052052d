// SPDX-License-Identifier: Apache-2.0
/// What products and solutions are judged by: A x and b - A x row by row in long double, and how much may be
/// rounding.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>

namespace newel::bench {

/// The exact rows (as far as long double is) of y = alpha A x + beta y0, for any alpha and beta. A row of m entries
/// takes at most m + 3 roundings on the way to any partial result, whatever the order of the sum: its bound is
/// (m + 3) eps (|alpha| |A||x| + |beta| |y0|)_i.
template <class T>
class ProductOracle {
 public:
  /// Reads the matrix once; keeps 40 bytes a row.
  ProductOracle(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, const std::vector<T>& x);

  /// The largest error of a row in units of its bound: 1 or less is right. Infinite for a row that is not a number,
  /// and for one that differs where no difference is allowed. With beta = 0, y0 is not read.
  double worst(const std::vector<T>& y, T alpha, T beta = T(0), const std::vector<T>& y0 = {}) const;

 private:
  struct Row {
    long double value;
    double magnitude;
    Offset entries;
  };
  Context<Space::host> ctx_;
  std::vector<Row> rows_;
};

struct TrueResidual {
  double relative = 0;  ///< |b - A x| / |b|, or |A x| for b = 0
  /// How far a residual formed in T may be from it: row i, of m entries, takes at most m + 3 roundings, so that
  /// |(m_i + 3) eps (|A||x| + |b|)_i| over |b| bounds the difference of the norms.
  double rounding = 0;
};

/// Row by row, in parallel, in long double: independent of every solver and every format. Not a number where x is
/// not.
template <class T>
TrueResidual true_residual(const Context<Space::host>& ctx, const CsrView<T, Space::host>& a, const std::vector<T>& b,
                           const std::vector<T>& x);

}  // namespace newel::bench
