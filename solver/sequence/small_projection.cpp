// SPDX-License-Identifier: Apache-2.0
// A pivoted Cholesky factorisation of a few rows.
#include "solver/sequence/small_projection.hpp"

#include <cmath>

namespace newel::detail {
namespace {

// Rows of L in the order in which they were taken, over all m vectors.
struct Factor {
  std::vector<int> taken;
  std::vector<std::vector<double>> rows;
};

int largest(const std::vector<double>& left, double least) {
  int best = -1;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] > least && (best < 0 || left[i] > left[static_cast<std::size_t>(best)])) best = static_cast<int>(i);
  }
  return best;
}

}  // namespace

std::vector<double> SmallProjection::solve(const std::vector<double>& h, double least) const {
  const auto m = static_cast<std::size_t>(m_);
  std::vector<double> scale(m, 0.0), left(m, 0.0);
  for (int i = 0; i < m_; ++i) {
    const double inverse = 1 / std::sqrt(entry(i, i));
    const auto at = static_cast<std::size_t>(i);
    if (inverse > 0 && std::isfinite(inverse) && std::isfinite(h[at])) scale[at] = inverse, left[at] = 1;
  }
  Factor factor;
  for (int pivot = largest(left, least); pivot >= 0; pivot = largest(left, least)) {
    const auto p = static_cast<std::size_t>(pivot);
    const double root = std::sqrt(left[p]);
    std::vector<double> row(m, 0.0);
    for (std::size_t j = 0; j < m; ++j) {
      if (!(left[j] > 0) || j == p) continue;
      double value = scale[p] * entry(pivot, static_cast<int>(j)) * scale[j];
      for (const std::vector<double>& before : factor.rows) value -= before[p] * before[j];
      row[j] = value / root;
      left[j] -= row[j] * row[j];
    }
    row[p] = root;
    left[p] = 0;
    factor.taken.push_back(pivot);
    factor.rows.push_back(std::move(row));
  }
  // L z = D h, then L^T y = z, on the vectors that were taken; y in units of the vectors.
  const std::size_t rank = factor.taken.size();
  std::vector<double> z(rank), y(m, 0.0);
  for (std::size_t k = 0; k < rank; ++k) {
    const auto p = static_cast<std::size_t>(factor.taken[k]);
    z[k] = scale[p] * h[p];
    for (std::size_t l = 0; l < k; ++l) z[k] -= factor.rows[l][p] * z[l];
    z[k] /= factor.rows[k][p];
  }
  for (std::size_t k = rank; k-- > 0;) {
    for (std::size_t l = k + 1; l < rank; ++l)
      z[k] -= factor.rows[k][static_cast<std::size_t>(factor.taken[l])] * z[l];
    z[k] /= factor.rows[k][static_cast<std::size_t>(factor.taken[k])];
  }
  for (std::size_t k = 0; k < rank; ++k) {
    const auto p = static_cast<std::size_t>(factor.taken[k]);
    y[p] = scale[p] * z[k];
  }
  return y;
}

}  // namespace newel::detail
