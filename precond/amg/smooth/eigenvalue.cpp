// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of tridiagonal matrices.
#include "precond/amg/smooth/eigenvalue.hpp"

#include <algorithm>
#include <cmath>

#include "core/vectors/tridiagonal.hpp"

namespace newel::detail {

double tridiagonal_largest(const std::vector<double>& alpha, const std::vector<double>& beta) {
  const std::size_t n = alpha.size();
  double low = 0, high = 0;
  for (std::size_t i = 0; i < n; ++i) {
    low = i == 0 ? alpha[i] : std::max(low, alpha[i]);
    high = std::max(high, alpha[i] + (i == 0 ? 0 : beta[i - 1]) + (i + 1 == n ? 0 : beta[i]));
  }
  if (n == 0 || !std::isfinite(high)) return high;
  std::vector<TridiagonalRow> rows;
  for (std::size_t i = 0; i < n; ++i) rows.push_back({alpha[i], i == 0 ? 0 : beta[i - 1] * beta[i - 1]});
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    (all_eigenvalues_beyond(rows, middle, -1) ? high : low) = middle;
  }
  return high;
}

}  // namespace newel::detail
