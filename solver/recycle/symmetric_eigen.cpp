// SPDX-License-Identifier: Apache-2.0
// Cyclic Jacobi rotations.
#include "solver/recycle/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace newel::detail {
namespace {

constexpr int most_sweeps = 30;

// Rows p and q of `rows`, rotated.
void rotate_rows(SmallMatrix& rows, int n, int p, int q, double c, double s) {
  for (int k = 0; k < n; ++k) {
    const double at_p = rows(p, k), at_q = rows(q, k);
    rows(p, k) = c * at_p - s * at_q;
    rows(q, k) = s * at_p + c * at_q;
  }
}

void rotate_columns(SmallMatrix& a, int n, int p, int q, double c, double s) {
  for (int k = 0; k < n; ++k) {
    const double at_p = a(k, p), at_q = a(k, q);
    a(k, p) = c * at_p - s * at_q;
    a(k, q) = s * at_p + c * at_q;
  }
}

// Whether the entry (p, q) is more than rounding of its diagonal entries; they need not be positive.
bool matters(const SmallMatrix& a, int p, int q) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  return std::abs(a(p, q)) > eps * std::sqrt(std::abs(a(p, p))) * std::sqrt(std::abs(a(q, q)));
}

}  // namespace

SymmetricEigen symmetric_eigen(const SmallMatrix& given, int n) {
  SmallMatrix a(n, n), V(n, n);
  for (int i = 0; i < n; ++i) {
    V(i, i) = 1;
    for (int j = 0; j < n; ++j) a(i, j) = given(i, j);
  }
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < most_sweeps; ++sweep) {
    rotated = false;
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        if (!matters(a, p, q)) continue;
        rotated = true;
        const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(1.0, theta));
        const double c = 1 / std::hypot(1.0, t), s = t * c;
        rotate_rows(a, n, p, q, c, s);
        rotate_columns(a, n, p, q, c, s);
        a(p, q) = a(q, p) = 0;
        rotate_rows(V, n, p, q, c, s);
      }
    }
  }
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return a(i, i) < a(j, j); });
  SymmetricEigen eigen{{}, SmallMatrix(n, n)};
  for (int j = 0; j < n; ++j) {
    const int from = order[static_cast<std::size_t>(j)];
    eigen.values.push_back(a(from, from));
    for (int k = 0; k < n; ++k) eigen.vectors(j, k) = V(from, k);
  }
  return eigen;
}

}  // namespace newel::detail
