// SPDX-License-Identifier: Apache-2.0
// Harmonic Ritz vectors: G^T G z = theta G^T [C V]^T [U V] z, by the triangular factor of G.
#include "solver/recycle/harmonic_ritz.hpp"

#include <algorithm>
#include <cmath>

#include "solver/recycle/small_eigen.hpp"

namespace newel::detail {
namespace {

// The first k + p rows of Q^T [C V]^T [U V], where G = Q T: only the rows of V are rotated.
SmallMatrix rotated_products(const CycleRelation& cycle) {
  const int k = cycle.kept(), p = cycle.columns();
  SmallMatrix N(k + p + 1, k + p);
  for (int i = 0; i < k + p + 1; ++i) {
    for (int j = 0; j < k; ++j) N(i, j) = cycle.products(i, j);
  }
  for (int j = 0; j < p; ++j) N(k + j, k + j) = 1;
  for (int i = 0; i < p; ++i) {
    const double c = cycle.cosine[static_cast<std::size_t>(i)], s = cycle.sine[static_cast<std::size_t>(i)];
    for (int j = 0; j < k + p; ++j) {
      const double above = N(k + i, j), below = N(k + i + 1, j);
      N(k + i, j) = c * above + s * below;
      N(k + i + 1, j) = c * below - s * above;
    }
  }
  N.values.resize(static_cast<std::size_t>((k + p) * (k + p)));
  --N.rows;
  return N;
}

// T of G = Q T, k + p rows.
SmallMatrix triangle_of(const CycleRelation& cycle) {
  const int k = cycle.kept(), p = cycle.columns();
  SmallMatrix T(k + p, k + p);
  for (int i = 0; i < k; ++i) {
    for (int j = i; j < k; ++j) T(i, j) = cycle.R(i, j);
    for (int j = 0; j < p; ++j) T(i, k + j) = cycle.P(i, j);
  }
  for (int i = 0; i < p; ++i) {
    for (int j = i; j < p; ++j) T(k + i, k + j) = cycle.triangle(i, j);
  }
  return T;
}

// T^-1 N in place of N.
void solve_triangle(const SmallMatrix& T, SmallMatrix& N) {
  for (int i = T.rows; i-- > 0;) {
    for (int l = i + 1; l < T.cols; ++l) {
      for (int j = 0; j < N.cols; ++j) N(i, j) -= T(i, l) * N(l, j);
    }
    for (int j = 0; j < N.cols; ++j) N(i, j) /= T(i, i);
  }
}

// The largest |B v_j|, the length of a column of G.
double largest_image(const SmallMatrix& T, int first) {
  double largest = 0;
  for (int j = first; j < T.cols; ++j) {
    double squares = 0;
    for (int i = 0; i <= j; ++i) squares += T(i, j) * T(i, j);
    largest = std::max(largest, std::sqrt(squares));
  }
  return largest;
}

}  // namespace

// The eigenvalues of T^-1 Q^T N are 1 / theta.
HarmonicRitz harmonic_ritz(const CycleRelation& cycle, int most, double small_part) {
  const SmallMatrix T = triangle_of(cycle);
  SmallMatrix F = rotated_products(cycle);
  solve_triangle(T, F);
  const SmallEigen eigen(F);
  std::vector<int> order;
  for (int j = 0; j < static_cast<int>(eigen.values().size()); ++j) {
    if (eigen.values()[static_cast<std::size_t>(j)].imag() >= 0) order.push_back(j);
  }
  const auto size = [&](int j) { return std::abs(eigen.values()[static_cast<std::size_t>(j)]); };
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return size(i) > size(j); });
  const double least = 1 / (small_part * largest_image(T, cycle.kept()));
  HarmonicRitz ritz{{}, SmallMatrix(most, F.cols)};
  int rows = 0;
  for (const int j : order) {
    const std::complex<double> value = eigen.values()[static_cast<std::size_t>(j)];
    const int parts = value.imag() > 0 ? 2 : 1;
    if (!(size(j) > least) || rows + parts > most) break;
    const std::vector<std::complex<double>> vector = eigen.vector(j);
    SmallMatrix both(parts, F.cols);
    for (int i = 0; i < F.cols; ++i) {
      both(0, i) = vector[static_cast<std::size_t>(i)].real();
      if (parts == 2) both(1, i) = vector[static_cast<std::size_t>(i)].imag();
    }
    for (int part = 0; part < parts; ++part) {
      if (!add_orthonormal(ritz.vectors, rows, both, part)) continue;
      ritz.values.push_back(1.0 / value);
      ++rows;
    }
  }
  ritz.vectors.rows = rows;
  return ritz;
}

}  // namespace newel::detail
