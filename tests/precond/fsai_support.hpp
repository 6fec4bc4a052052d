// SPDX-License-Identifier: Apache-2.0
/// Symmetric positive definite test matrices for FSAI, how the tests make and apply it, and its definition in long
/// double: dense local systems by elimination with pivoting, nothing of the library.
#pragma once

#include <newel/precond/fsai/fsai_options.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/registry.hpp>
#include "precond/fsai/fsai.hpp"

#include "tests/precond/applied.hpp"
#include "tests/support.hpp"

namespace newel::testing {

using Dense = std::vector<std::vector<long double>>;

inline Dense dense_of(const HostCsr& a) {
  Dense d(a.rows, std::vector<long double>(a.cols, 0));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) d[i][a.col[k]] = a.val[k];
  }
  return d;
}

/// The inverse, by Gauss and Jordan with partial pivoting.
inline Dense inverse_of(Dense a) {
  const std::size_t n = a.size();
  Dense inverse(n, std::vector<long double>(n, 0));
  for (std::size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (std::fabs(a[i][k]) > std::fabs(a[pivot][k])) pivot = i;
    }
    std::swap(a[k], a[pivot]);
    std::swap(inverse[k], inverse[pivot]);
    for (std::size_t i = 0; i < n; ++i) {
      const long double factor = i == k ? 1 - 1 / a[k][k] : a[i][k] / a[k][k];
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] -= factor * a[k][j];
        inverse[i][j] -= factor * inverse[k][j];
      }
    }
  }
  return inverse;
}

inline long double frobenius(const Dense& a) {
  long double sum = 0;
  for (const auto& row : a) {
    for (const long double value : row) sum += value * value;
  }
  return std::sqrt(sum);
}

/// Symmetric, strictly dominant: off-diagonal entries of `a`, averaged with their opposites, and a diagonal above the
/// sum of its row, by a factor that varies from row to row. Whole multiples of 2^-12: exact in both precisions.
inline HostCsr made_definite(const HostCsr& a, std::uint64_t seed = 31) {
  Random random(seed);
  MapRows rows(a.rows);
  const auto rounded = [](double value) { return std::round(value * 4096) / 4096; };
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const Index j = a.col[k];
      if (i != j) rows[i][j] = rows[j][i] = rounded(a.val[k]);
    }
  }
  for (Index i = 0; i < a.rows; ++i) {
    double sum = 1.0 / 64;
    for (const auto& [j, value] : rows[i]) sum += j == i ? 0.0 : std::fabs(value);
    rows[i][i] = rounded(sum * (1.03125 + 0.25 * std::fabs(random.value())));
  }
  return from_rows(a.rows, rows);
}

/// Tridiagonal, and the last `full` rows and columns full: their local problems have as many unknowns as they reach.
inline HostCsr bordered_matrix(Index n, Index full) {
  Random random(32);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = 1;
    if (i > 0) rows[i][i - 1] = random.value();
    if (i < n - full) continue;
    for (Index j = 0; j < i; ++j) rows[i][j] = random.value() / 8;
  }
  return made_definite(from_rows(n, rows));
}

/// Every entry there, in rows of a random scale.
inline HostCsr full_definite_matrix(Index n) {
  Random random(33);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) rows[i][j] = random.value();
  }
  return made_definite(from_rows(n, rows));
}

/// G of the definition on a given pattern: row i solves A(J, J) g = e, scaled by 1 / sqrt(g_i); with the condition
/// number of each local matrix in the Frobenius norm.
struct FactorOracle {
  std::vector<std::vector<long double>> row;  ///< the entries of each row of the pattern
  std::vector<long double> condition;
};
inline FactorOracle factor_oracle(const HostCsr& a, const HostCsr& pattern) {
  const Dense d = dense_of(a);
  FactorOracle result;
  for (Index i = 0; i < pattern.rows; ++i) {
    const std::vector<Index> J(pattern.col.begin() + pattern.row_ptr[i],
                               pattern.col.begin() + pattern.row_ptr[i + 1]);
    Dense local(J.size(), std::vector<long double>(J.size()));
    for (std::size_t r = 0; r < J.size(); ++r) {
      for (std::size_t c = 0; c < J.size(); ++c) local[r][c] = d[J[r]][J[c]];
    }
    const Dense inverse = inverse_of(local);
    std::vector<long double> g;
    for (std::size_t r = 0; r < J.size(); ++r) g.push_back(inverse[r].back() / std::sqrt(inverse.back().back()));
    result.row.push_back(g);
    result.condition.push_back(frobenius(local) * frobenius(inverse));
  }
  return result;
}

/// z = G^T (G x) in long double, with the bound of two products in T.
template <class T>
Expected expected_fsai(const HostCsr& g, const std::vector<T>& x) {
  const long double eps = std::numeric_limits<T>::epsilon();
  std::vector<long double> between(g.rows, 0), magnitude(g.rows, 0);
  Expected z{std::vector<long double>(g.rows, 0), std::vector<long double>(g.rows, 0)};
  std::vector<long double> length(g.rows, 0);
  for (Index i = 0; i < g.rows; ++i) {
    for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
      between[i] += static_cast<long double>(g.val[k]) * x[g.col[k]];
      magnitude[i] += std::fabs(static_cast<long double>(g.val[k]) * x[g.col[k]]);
    }
  }
  for (Index i = 0; i < g.rows; ++i) {
    for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
      z.value[g.col[k]] += static_cast<long double>(g.val[k]) * between[i];
      z.bound[g.col[k]] += std::fabs(static_cast<long double>(g.val[k])) * magnitude[i] * (g.row_length(i) + 3);
      length[g.col[k]] += 1;
    }
  }
  for (Index j = 0; j < g.rows; ++j) z.bound[j] *= eps * (length[j] + 3) / 2;
  return z;
}

inline PrecondOptions fsai_options(int power = 1, double drop = 0, const std::string& format = "") {
  PrecondOptions options;
  options.name = "fsai";
  options.of<FsaiOptions>().power = power;
  options.of<PatternOptions>().drop = drop;
  options.format = format;
  return options;
}

template <class T, Space S>
FsaiOperator<T, S> fsai(const Context<S>& ctx, const CsrView<T, S>& a, const PrecondOptions& options = fsai_options(),
                        const RowOrder<S>& order = {}) {
  return FsaiOperator<T, S>(ctx, a, order, options, SpmvOptions{});
}

template <class T, Space S>
HostCsr factor_of(const Context<S>& ctx, const FsaiOperator<T, S>& m) {
  const CsrView<T, S> view = m.factor();
  HostCsr g;
  g.rows = g.cols = view.rows;
  g.row_ptr = to_vector(ctx, view.row_ptr64);
  g.col = to_vector(ctx, view.col);
  const std::vector<T> values = to_vector(ctx, view.val);
  g.val.assign(values.begin(), values.end());
  return g;
}

}  // namespace newel::testing
