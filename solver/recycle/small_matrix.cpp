// SPDX-License-Identifier: Apache-2.0
// Orthonormal rows of small matrices.
#include "solver/recycle/small_matrix.hpp"

#include <cmath>

namespace newel::detail {
namespace {

// What is left of a vector without its part in others, below which it is taken for a combination of them.
constexpr double least_remainder = 1e-6;

}  // namespace

double row_product(const SmallMatrix& a, int i, const SmallMatrix& b, int j) {
  double sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(i, k) * b(j, k);
  return sum;
}

bool add_orthonormal(SmallMatrix& Q, int count, const SmallMatrix& from, int row) {
  for (int k = 0; k < Q.cols; ++k) Q(count, k) = k < from.cols ? from(row, k) : 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < count; ++i) {
      const double part = row_product(Q, i, Q, count);
      for (int k = 0; k < Q.cols; ++k) Q(count, k) -= part * Q(i, k);
    }
    const double length = std::sqrt(row_product(Q, count, Q, count));
    if (!(length > least_remainder)) return false;
    for (int k = 0; k < Q.cols; ++k) Q(count, k) /= length;
  }
  return true;
}

}  // namespace newel::detail
