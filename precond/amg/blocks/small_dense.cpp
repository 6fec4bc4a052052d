// SPDX-License-Identifier: Apache-2.0
// Cholesky's factorisation, Gauss elimination with complete pivoting, and Jacobi's eigenvalue iteration.
#include "precond/amg/blocks/small_dense.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace newel::detail {
namespace {

using Dense = std::vector<double>;

// P A Q = L U on the leading `rank` rows and columns; what remains below and right is taken for 0.
struct Elimination {
  int n;
  Dense a;
  std::vector<int> row, col;  // row[i]: which row of A stands in place i
  int rank = 0;

  Elimination(int n_, Dense a_, double tolerance) : n(n_), a(std::move(a_)), row(n_), col(n_) {
    std::iota(row.begin(), row.end(), 0);
    std::iota(col.begin(), col.end(), 0);
    double largest = 0;
    for (; rank < n; ++rank) {
      const double pivot = bring_pivot();
      largest = std::max(largest, pivot);
      if (!(pivot > tolerance * largest)) break;
      eliminate();
    }
  }
  double& at(int i, int j) { return a[static_cast<std::size_t>(i) * n + j]; }

  double bring_pivot() {
    int best_row = rank, best_col = rank;
    for (int i = rank; i < n; ++i) {
      for (int j = rank; j < n; ++j) {
        if (std::fabs(at(i, j)) > std::fabs(at(best_row, best_col))) best_row = i, best_col = j;
      }
    }
    if (best_row != rank) std::swap_ranges(&at(rank, 0), &at(rank, 0) + n, &at(best_row, 0));
    for (int i = 0; i < n; ++i) std::swap(at(i, rank), at(i, best_col));
    std::swap(row[rank], row[best_row]);
    std::swap(col[rank], col[best_col]);
    return std::fabs(at(rank, rank));
  }
  void eliminate() {
    for (int i = rank + 1; i < n; ++i) {
      const double factor = at(i, rank) /= at(rank, rank);
      if (factor == 0) continue;
      const double* const from = &at(rank, 0);
      double* const to = &at(i, 0);
      for (int j = rank + 1; j < n; ++j) to[j] -= factor * from[j];
    }
  }
};

// `count` vectors of n values, one after the other; Gram-Schmidt, twice.
void orthonormalise(int n, Dense& vectors, int count) {
  for (int c = 0; c < count; ++c) {
    double* const v = vectors.data() + static_cast<std::size_t>(c) * n;
    for (int pass = 0; pass < 2; ++pass) {
      for (int o = 0; o < c; ++o) {
        const double* const other = vectors.data() + static_cast<std::size_t>(o) * n;
        const double along = std::inner_product(v, v + n, other, 0.0);
        for (int i = 0; i < n; ++i) v[i] -= along * other[i];
      }
    }
    const double length = std::sqrt(std::inner_product(v, v + n, v, 0.0));
    for (int i = 0; i < n; ++i) v[i] /= length;
  }
}

// x with A x = 0, one after the other: U x = 0 with a 1 in one of the last places.
Dense right_null_space(Elimination& e) {
  Dense vectors;
  for (int c = e.rank; c < e.n; ++c) {
    Dense y(static_cast<std::size_t>(e.n), 0.0), x(y.size());
    y[c] = 1;
    for (int i = e.rank - 1; i >= 0; --i) {
      double sum = e.at(i, c);
      for (int j = i + 1; j < e.rank; ++j) sum += e.at(i, j) * y[j];
      y[i] = -sum / e.at(i, i);
    }
    for (int i = 0; i < e.n; ++i) x[e.col[i]] = y[i];
    vectors.insert(vectors.end(), x.begin(), x.end());
  }
  orthonormalise(e.n, vectors, e.n - e.rank);
  return vectors;
}

// The inverse of a matrix of full rank: for each unit vector L, then U.
Dense inverse_of(Elimination& e) {
  const int n = e.n;
  Dense inverse(static_cast<std::size_t>(n) * n, 0.0);
  // Rows of `work` hold all right-hand sides at once.
  Dense work(inverse.size(), 0.0);
  for (int i = 0; i < n; ++i) work[static_cast<std::size_t>(i) * n + e.row[i]] = 1;
  const auto subtract = [&](int to, int from, double factor) {
    if (factor == 0) return;
    for (int j = 0; j < n; ++j) {
      work[static_cast<std::size_t>(to) * n + j] -= factor * work[static_cast<std::size_t>(from) * n + j];
    }
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) subtract(i, j, e.at(i, j));
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) subtract(i, j, e.at(i, j));
    for (int j = 0; j < n; ++j) work[static_cast<std::size_t>(i) * n + j] /= e.at(i, i);
    std::copy_n(work.begin() + static_cast<std::ptrdiff_t>(i) * n, n,
                inverse.begin() + static_cast<std::ptrdiff_t>(e.col[i]) * n);
  }
  return inverse;
}

// a += scale u_c v_c^T, summed over c.
void add_outer(int n, int count, double scale, const Dense& u, const Dense& v, Dense& a) {
  for (int c = 0; c < count; ++c) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        a[static_cast<std::size_t>(i) * n + j] +=
            scale * u[static_cast<std::size_t>(c) * n + i] * v[static_cast<std::size_t>(c) * n + j];
      }
    }
  }
}

Dense transposed(int n, const Dense& a) {
  Dense t(a.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) t[static_cast<std::size_t>(j) * n + i] = a[static_cast<std::size_t>(i) * n + j];
  }
  return t;
}

// Rows of zeros, as vectors that are missing in an aggregate leave them.
std::vector<int> zero_rows(int n, const Dense& a) {
  std::vector<int> rows;
  for (int i = 0; i < n; ++i) {
    const auto row = a.begin() + static_cast<std::ptrdiff_t>(i) * n;
    if (std::all_of(row, row + n, [](double value) { return value == 0; })) rows.push_back(i);
  }
  return rows;
}

bool is_symmetric(int n, const Dense& a) {
  double largest = 0, difference = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double value = a[static_cast<std::size_t>(i) * n + j];
      largest = std::max(largest, std::fabs(value));
      difference = std::max(difference, std::fabs(value - a[static_cast<std::size_t>(j) * n + i]));
    }
  }
  return difference <= 1e-10 * largest;
}

// Of a symmetric positive definite matrix, where rows and columns of zeros are left out: L^-T L^-1 by Cholesky's
// A = L L^T, all of it in sums of rows. Nothing where a pivot is not above `tolerance` times the largest.
std::optional<DenseInverse> definite_inverse(int n, Dense a, double tolerance) {
  const std::vector<int> zeros = zero_rows(n, a);
  const auto row_of = [n](Dense& m, int i) { return m.data() + static_cast<std::size_t>(i) * n; };
  for (const int i : zeros) row_of(a, i)[i] = 1;
  Dense inverse_factor(a.size(), 0.0);
  const auto is_zero = [&](int i) { return std::binary_search(zeros.begin(), zeros.end(), i); };
  double largest = 0;
  for (int k = 0; k < n; ++k) {  // row k of a, from the diagonal on, becomes that of L^T
    double* const pivot_row = row_of(a, k);
    const double pivot = pivot_row[k];
    if (!is_zero(k)) largest = std::max(largest, pivot);
    if (!is_zero(k) && !(pivot > tolerance * largest)) return std::nullopt;
    const double scale = 1 / std::sqrt(pivot);
    for (int j = k; j < n; ++j) pivot_row[j] *= scale;
    for (int i = k + 1; i < n; ++i) {
      const double factor = pivot_row[i];
      double* const to = row_of(a, i);
      for (int j = i; j < n; ++j) to[j] -= factor * pivot_row[j];
    }
    double* const own = row_of(inverse_factor, k);  // of L^-1
    for (int j = 0; j < k; ++j) {
      const double factor = row_of(a, j)[k];
      const double* const before = row_of(inverse_factor, j);
      for (int c = 0; c <= j; ++c) own[c] -= factor * before[c];
    }
    own[k] = 1;
    for (int c = 0; c <= k; ++c) own[c] *= scale;
  }
  DenseInverse result{Dense(a.size(), 0.0), static_cast<int>(zeros.size())};
  for (int k = 0; k < n; ++k) {
    if (is_zero(k)) continue;
    const double* const row = row_of(inverse_factor, k);
    for (int i = 0; i <= k; ++i) {
      double* const to = row_of(result.values, i);
      for (int c = 0; c <= i; ++c) to[c] += row[i] * row[c];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) row_of(result.values, j)[i] = row_of(result.values, i)[j];
  }
  return result;
}

}  // namespace

int invert_dense(const HostContext&, const HostBlockCsr& a, double tolerance, std::vector<double>& inverse) {
  const auto n = static_cast<int>(a.scalar_rows());
  Dense dense(static_cast<std::size_t>(n) * n, 0.0);
  const int b = a.row_block;
  for (Index i = 0; i < a.pattern.rows; ++i) {
    for (Offset k = a.pattern.row_ptr[i]; k < a.pattern.row_ptr[i + 1]; ++k) {
      for (int e = 0; e < b * b; ++e) {
        const auto row = static_cast<std::size_t>(i) * b + e / b;
        dense[row * n + static_cast<std::size_t>(a.pattern.col[k]) * b + e % b] = a.block(k)[e];
      }
    }
  }
  DenseInverse result = dense_inverse(n, dense, tolerance);
  inverse = std::move(result.values);
  return result.null_vectors;
}

DenseInverse dense_inverse(int n, const std::vector<double>& a, double tolerance) {
  const bool symmetric = is_symmetric(n, a);
  if (symmetric && n > 0) {
    if (auto definite = definite_inverse(n, a, tolerance)) return *std::move(definite);
  }
  DenseInverse result;
  Elimination e(n, a, tolerance);
  result.null_vectors = n - e.rank;
  if (e.rank == 0) {
    result.values.assign(a.size(), 0.0);
    return result;
  }
  if (e.rank == n) {
    result.values = inverse_of(e);
  } else {
    // With orthonormal bases Z and W of the null spaces of A and A^T: (A + s W Z^T)^-1 = A^+ + Z W^T / s.
    Elimination of_transposed(n, transposed(n, a), tolerance);
    of_transposed.rank = e.rank = std::min(of_transposed.rank, e.rank);
    result.null_vectors = n - e.rank;
    const Dense z = right_null_space(e), w = right_null_space(of_transposed);
    double s = 0;
    for (const double value : a) s = std::max(s, std::fabs(value));
    Dense full = a;
    add_outer(n, result.null_vectors, s, w, z, full);
    Elimination regular(n, full, 0);
    if (regular.rank < n) return {Dense(a.size(), 0.0), result.null_vectors};
    result.values = inverse_of(regular);
    add_outer(n, result.null_vectors, -1 / s, z, w, result.values);
  }
  if (symmetric) {
    const Dense t = transposed(n, result.values);
    for (std::size_t i = 0; i < t.size(); ++i) result.values[i] = 0.5 * (result.values[i] + t[i]);
  }
  return result;
}

std::vector<double> semidefinite_inverse(int n, std::vector<double> a) {
  Dense vectors(a.size()), inverse(a.size());
  semidefinite_inverse(n, SmallDense{a.data(), 1}, SmallDense{vectors.data(), 1}, SmallDense{inverse.data(), 1});
  return inverse;
}

}  // namespace newel::detail
