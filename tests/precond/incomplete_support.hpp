// SPDX-License-Identifier: Apache-2.0
/// Incomplete factors by the book: dense, in long double, in natural order. Uses nothing of the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <newel/precond/incomplete/incomplete_options.hpp>
#include <newel/precond/registry.hpp>

#include "tests/catch.hpp"
#include "tests/precond/applied.hpp"
#include "tests/support.hpp"

namespace newel::testing {

using Dense = std::vector<std::vector<long double>>;

/// L (with ones on its diagonal) and D U in one matrix, on the pattern where `kept`.
struct DenseFactors {
  Dense lu;
  std::vector<std::vector<char>> kept;
};

inline Dense dense_of(const HostCsr& a) {
  Dense d(static_cast<std::size_t>(a.rows), std::vector<long double>(static_cast<std::size_t>(a.rows), 0));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) d[i][a.col[k]] = a.val[k];
  }
  return d;
}

/// The pattern of ILU(level) by its definition: lev_ij = min over k < i, j of lev_ik + lev_kj + 1 (Saad 2003,
/// algorithm 10.5), 0 where A has an entry or on the diagonal.
inline std::vector<std::vector<char>> dense_fill(const HostCsr& a, int level) {
  const auto n = static_cast<std::size_t>(a.rows);
  constexpr int none = 1 << 20;
  std::vector<std::vector<int>> lev(n, std::vector<int>(n, none));
  for (std::size_t i = 0; i < n; ++i) {
    lev[i][i] = 0;
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) lev[i][a.col[k]] = 0;
    for (std::size_t k = 0; k < i; ++k) {
      if (lev[i][k] > level) continue;
      for (std::size_t j = k + 1; j < n; ++j) lev[i][j] = std::min(lev[i][j], lev[i][k] + lev[k][j] + 1);
    }
  }
  std::vector<std::vector<char>> kept(n, std::vector<char>(n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) kept[i][j] = lev[i][j] <= level ? 1 : 0;
  }
  return kept;
}

/// Gaussian elimination that leaves out what does not belong to the pattern (Saad 2003, algorithm 10.3).
inline DenseFactors dense_factors(const HostCsr& a, const std::vector<std::vector<char>>& kept) {
  DenseFactors f{dense_of(a), kept};
  const std::size_t n = f.lu.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (kept[i][k] == 0) continue;
      f.lu[i][k] /= f.lu[k][k];
      for (std::size_t j = k + 1; j < n; ++j) {
        if (kept[i][j] != 0 && kept[k][j] != 0) f.lu[i][j] -= f.lu[i][k] * f.lu[k][j];
      }
    }
  }
  return f;
}

template <class T>
std::vector<long double> solved(const DenseFactors& f, const std::vector<T>& b) {
  const std::size_t n = f.lu.size();
  std::vector<long double> x(b.begin(), b.end());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (f.kept[i][j] != 0) x[i] -= f.lu[i][j] * x[j];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) {
      if (f.kept[i][j] != 0) x[i] -= f.lu[i][j] * x[j];
    }
    x[i] /= f.lu[i][i];
  }
  return x;
}

/// The largest difference over the largest entry.
template <class T, class U>
double relative_difference(const std::vector<T>& found, const std::vector<U>& expected) {
  long double apart = 0, largest = 0;
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const long double difference = std::fabs(static_cast<long double>(found[i]) - expected[i]);
    if (!(difference <= apart)) apart = difference;
    largest = std::max<long double>(largest, std::fabs(static_cast<long double>(expected[i])));
  }
  return static_cast<double>(largest > 0 ? apart / largest : apart);
}

/// Rounding errors of factors and solves of diagonally dominant matrices of some hundred rows.
template <class T>
constexpr double factor_rounding = 1000 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <class Options>
PrecondOptions named(const std::string& name, const Options& own,
                     const FactorOptions& factors = FactorOptions{FactorOrder::natural}) {
  PrecondOptions options;
  options.name = name;
  options.of<Options>() = own;
  options.of<FactorOptions>() = factors;
  return options;
}

template <class T, Space S>
OperatorPtr<T, S> made(const Context<S>& ctx, const CsrView<T, S>& a, const PrecondOptions& options,
                       const RowOrder<S>& order = {}) {
  return make_precond(ctx, a, order, options, SpmvOptions{});
}

/// A sparse matrix without any symmetry whose rows are dominated by their diagonal entries.
inline HostCsr one_sided(Index n, std::uint64_t seed = 7) {
  Random random(seed);
  MapRows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (int e = 0; e < 5; ++e) {
      const Index j = random.index(n);
      if (j == i) continue;
      rows[i][j] = random.value();
      sum += std::fabs(rows[i][j]);
    }
    rows[i][i] = (i % 3 == 0 ? -1 : 1) * (1 + sum);
  }
  return from_rows(n, rows);
}

/// The 5-point Laplacian of a square of m x m points, plus `convection` in both directions.
inline HostCsr grid_matrix(Index m, double convection = 0) {
  MapRows rows(static_cast<std::size_t>(m * m));
  for (Index y = 0; y < m; ++y) {
    for (Index x = 0; x < m; ++x) {
      auto& row = rows[y * m + x];
      row[y * m + x] = 4;
      if (x > 0) row[y * m + x - 1] = -1 - convection;
      if (x + 1 < m) row[y * m + x + 1] = -1 + convection;
      if (y > 0) row[y * m + x - m] = -1 - convection;
      if (y + 1 < m) row[y * m + x + m] = -1 + convection;
    }
  }
  return from_rows(m * m, rows);
}

}  // namespace newel::testing
