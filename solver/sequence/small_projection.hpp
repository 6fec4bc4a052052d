// SPDX-License-Identifier: Apache-2.0
/// SmallProjection: the coefficients of a combination of a few vectors, by their Gram matrix. Internal.
#pragma once

#include <vector>

namespace newel::detail {

/// The symmetric positive semidefinite matrix G of m vectors that come and go. Vectors that are nearly combinations
/// of others make it singular up to rounding: the factorisation leaves them out, and their coefficients are zero.
class SmallProjection {
 public:
  explicit SmallProjection(int vectors)
      : m_(vectors), gram_(static_cast<std::size_t>(vectors) * static_cast<std::size_t>(vectors), 0.0) {}

  double& entry(int i, int j) { return gram_[static_cast<std::size_t>(i * m_ + j)]; }
  double entry(int i, int j) const { return gram_[static_cast<std::size_t>(i * m_ + j)]; }
  void set(int i, int j, double value) { entry(i, j) = entry(j, i) = value; }

  /// y with G y = h on the vectors that a Cholesky factorisation with pivoting takes (N. Higham, Accuracy and
  /// Stability of Numerical Algorithms, 2nd edition, section 10.3), and zero for the others. Vectors are scaled to
  /// unit length first; one is left out if less than `least` of its squared length is independent of those before
  /// it. Vectors with numbers that are not finite are left out. Same input, same bits.
  std::vector<double> solve(const std::vector<double>& h, double least) const;

 private:
  int m_;
  std::vector<double> gram_;
};

}  // namespace newel::detail
