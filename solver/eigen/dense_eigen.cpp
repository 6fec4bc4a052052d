// SPDX-License-Identifier: Apache-2.0
// Householder reflections, implicit QR steps, and Gram-Schmidt with pivoting.
#include "solver/eigen/dense_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace newel::detail {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr int most_steps = 40;  // for each eigenvalue; two or three are usual

double* row_of(SmallMatrix& a, int i) { return a.values.data() + static_cast<std::ptrdiff_t>(i) * a.cols; }

double row_product(const double* x, const double* y, int first, int end) {
  double sum = 0;
  for (int k = first; k < end; ++k) sum += x[k] * y[k];
  return sum;
}

void add_multiple(double alpha, const double* x, double* y, int first, int end) {
  for (int k = first; k < end; ++k) y[k] += alpha * x[k];
}

// Diagonal, and what stands below it; `q` has the rows whose combinations are the eigenvectors.
struct Tridiagonal {
  std::vector<double> diagonal, below;
  SmallMatrix q;
};

// A = Q T Q^T. The reflection of step k, I - factor v v^T, leaves one entry below the diagonal in column k; v is kept
// in the row k of `reflections`.
Tridiagonal tridiagonal_form(SmallMatrix a) {
  const int n = a.rows;
  Tridiagonal t{std::vector<double>(static_cast<std::size_t>(n)), std::vector<double>(static_cast<std::size_t>(n)),
                SmallMatrix(n, n)};
  SmallMatrix reflections(n, n);
  std::vector<double> factor(static_cast<std::size_t>(n), 0.0), p(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) a(i, j) = a(j, i);
  }
  for (int k = 0; k + 1 < n; ++k) {
    double* const v = row_of(reflections, k);
    std::copy(row_of(a, k) + k + 1, row_of(a, k) + n, v + k + 1);
    double largest = 0;
    for (int j = k + 1; j < n; ++j) largest = std::max(largest, std::abs(v[j]));
    double below = v[k + 1];
    if (k + 2 < n && largest > 0) {
      for (int j = k + 1; j < n; ++j) v[j] /= largest;
      const double length = std::sqrt(row_product(v, v, k + 1, n));
      below = -std::copysign(length, v[k + 1]);
      v[k + 1] -= below;
      const double square = row_product(v, v, k + 1, n);
      below *= largest;
      const double by = 2 / square;
      factor[static_cast<std::size_t>(k)] = by;
      for (int i = k + 1; i < n; ++i) p[static_cast<std::size_t>(i)] = by * row_product(row_of(a, i), v, k + 1, n);
      const double half = by / 2 * row_product(p.data(), v, k + 1, n);
      add_multiple(-half, v, p.data(), k + 1, n);
      for (int i = k + 1; i < n; ++i) {
        add_multiple(-v[i], p.data(), row_of(a, i), k + 1, n);
        add_multiple(-p[static_cast<std::size_t>(i)], v, row_of(a, i), k + 1, n);
      }
    }
    t.below[static_cast<std::size_t>(k)] = below;
  }
  for (int k = 0; k < n; ++k) t.diagonal[static_cast<std::size_t>(k)] = a(k, k);
  // The rows of Q^T, from the last reflection to the first.
  for (int i = 0; i < n; ++i) t.q(i, i) = 1;
  for (int k = n - 2; k >= 0; --k) {
    const double by = factor[static_cast<std::size_t>(k)];
    if (by == 0) continue;
    const double* const v = row_of(reflections, k);
    for (int i = k + 1; i < n; ++i)
      add_multiple(-by * row_product(row_of(t.q, i), v, k + 1, n), v, row_of(t.q, i), k + 1, n);
  }
  return t;
}

// One implicit QR step on the rows first to last, which no zero divides.
void qr_step(Tridiagonal& t, int first, int last) {
  double* const d = t.diagonal.data();
  double* const e = t.below.data();
  const double half = (d[last - 1] - d[last]) / 2;
  const double shift =
      d[last] - e[last - 1] * (e[last - 1] / (half + std::copysign(std::hypot(half, e[last - 1]), half)));
  double x = d[first] - shift, z = e[first];
  for (int k = first; k < last; ++k) {
    const double r = std::hypot(x, z);
    const double c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
    if (k > first) e[k - 1] = r;
    const double upper = d[k], lower = d[k + 1], beside = e[k];
    d[k] = c * c * upper + 2 * c * s * beside + s * s * lower;
    d[k + 1] = s * s * upper - 2 * c * s * beside + c * c * lower;
    e[k] = c * s * (lower - upper) + (c * c - s * s) * beside;
    if (k + 1 < last) {
      x = e[k];
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
    double* const one = row_of(t.q, k);
    double* const other = row_of(t.q, k + 1);
    for (int j = 0; j < t.q.cols; ++j) {
      const double at_one = one[j], at_other = other[j];
      one[j] = c * at_one + s * at_other;
      other[j] = c * at_other - s * at_one;
    }
  }
}

void make_diagonal(Tridiagonal& t) {
  const int n = t.q.rows;
  const auto small = [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    return std::abs(t.below[at]) <= eps * (std::abs(t.diagonal[at]) + std::abs(t.diagonal[at + 1]));
  };
  int last = n - 1;
  for (int steps = 0; last > 0 && steps < most_steps * n;) {
    if (small(last - 1)) {
      --last;
      continue;
    }
    int first = last - 1;
    while (first > 0 && !small(first - 1)) --first;
    qr_step(t, first, last);
    ++steps;
  }
}

}  // namespace

SymmetricEigen dense_eigen(const SmallMatrix& a) {
  const int n = a.rows;
  Tridiagonal t = tridiagonal_form(a);
  make_diagonal(t);
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
    return t.diagonal[static_cast<std::size_t>(i)] < t.diagonal[static_cast<std::size_t>(j)];
  });
  SymmetricEigen eigen{{}, SmallMatrix(n, n)};
  for (int j = 0; j < n; ++j) {
    const int from = order[static_cast<std::size_t>(j)];
    eigen.values.push_back(t.diagonal[static_cast<std::size_t>(from)]);
    std::copy(row_of(t.q, from), row_of(t.q, from) + n, row_of(eigen.vectors, j));
  }
  return eigen;
}

SmallMatrix orthonormal_columns(const SmallMatrix& given, const SmallMatrix& against) {
  const int n = given.rows;
  std::vector<std::vector<double>> left, fixed, taken;  // columns
  const auto column_of = [n](const SmallMatrix& a, int j) {
    std::vector<double> column(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) column[static_cast<std::size_t>(i)] = a(i, j);
    return column;
  };
  for (int j = 0; j < against.cols; ++j) fixed.push_back(column_of(against, j));
  for (int j = 0; j < given.cols; ++j) left.push_back(column_of(given, j));
  const auto length = [n](const std::vector<double>& x) { return std::sqrt(row_product(x.data(), x.data(), 0, n)); };
  const auto subtract = [n](const std::vector<std::vector<double>>& from, std::vector<double>& x) {
    for (const std::vector<double>& y : from)
      add_multiple(-row_product(y.data(), x.data(), 0, n), y.data(), x.data(), 0, n);
  };
  for (std::vector<double>& x : left) subtract(fixed, x), subtract(fixed, x);
  while (!left.empty()) {
    const auto longest = std::max_element(left.begin(), left.end(),
                                          [&](const auto& x, const auto& y) { return length(x) < length(y); });
    std::vector<double> next = std::move(*longest);
    left.erase(longest);
    if (!(length(next) > 1e2 * eps)) break;
    for (int pass = 0; pass < 2; ++pass) {
      const double by = 1 / length(next);
      for (double& value : next) value *= by;
      subtract(fixed, next);
      subtract(taken, next);
    }
    const double by = 1 / length(next);
    for (double& value : next) value *= by;
    for (std::vector<double>& x : left)
      add_multiple(-row_product(next.data(), x.data(), 0, n), next.data(), x.data(), 0, n);
    taken.push_back(std::move(next));
  }
  SmallMatrix result(n, static_cast<int>(taken.size()));
  for (int j = 0; j < result.cols; ++j) {
    for (int i = 0; i < n; ++i) result(i, j) = taken[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
  }
  return result;
}

}  // namespace newel::detail
