// SPDX-License-Identifier: Apache-2.0
/// Batches of small systems for tests: one pattern, other values in every system, and a right-hand side of each.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include <newel/solver/batched_system.hpp>

#include "tests/catch.hpp"

namespace newel::testing {

/// Values that are floats in both precisions.
inline double rounded(double value) { return static_cast<double>(static_cast<float>(value)); }

/// `systems` matrices on the pattern of `pattern`; b is random.
template <class T>
struct Batch {
  HostCsr pattern;
  Index systems = 0;
  std::vector<T> values, b;

  /// System s as a matrix of its own.
  HostCsr matrix(Index s) const {
    HostCsr a = pattern;
    for (Offset e = 0; e < a.nnz(); ++e) a.val[e] = static_cast<double>(values[s * a.nnz() + e]);
    return a;
  }
  std::vector<T> rhs(Index s) const { return part(b, s); }
  /// System s of a vector of all systems.
  std::vector<T> part(const std::vector<T>& of_all, Index s) const {
    const auto first = of_all.begin() + static_cast<std::ptrdiff_t>(s) * pattern.rows;
    return {first, first + pattern.rows};
  }
  T& value(Index s, Index row, Index col) {
    Offset e = pattern.row_ptr[row];
    while (pattern.col[e] != col) ++e;
    return values[s * pattern.nnz() + e];
  }
};

/// The five-point pattern of a grid.
inline HostCsr grid_pattern(Index width, Index height) {
  MapRows rows(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      std::map<Index, double>& row = rows[static_cast<std::size_t>(y * width + x)];
      row[y * width + x] = 1;
      if (x > 0) row[y * width + x - 1] = 1;
      if (x + 1 < width) row[y * width + x + 1] = 1;
      if (y > 0) row[(y - 1) * width + x] = 1;
      if (y + 1 < height) row[(y + 1) * width + x] = 1;
    }
  }
  return from_rows(width * height, rows);
}

/// Diagonally dominant matrices with negative random entries off the diagonal: symmetric positive definite if
/// `symmetric`. `surplus` is what the diagonal has beyond the sum of its row.
template <class T>
Batch<T> dominant_batch(const HostCsr& pattern, Index systems, bool symmetric, double surplus = 0.25,
                        std::uint64_t seed = 7) {
  Batch<T> batch{pattern, systems, {}, random_vector<T>(std::int64_t{systems} * pattern.rows, seed + 1)};
  batch.values.assign(static_cast<std::size_t>(systems * pattern.nnz()), T(0));
  for (Index s = 0; s < systems; ++s) {
    Random random(seed * 1000 + static_cast<std::uint64_t>(s));
    const auto weight = [&](Index i, Index j) {  // of a pair of rows, the same from both ends if symmetric
      const Index low = symmetric ? std::min(i, j) : i, high = symmetric ? std::max(i, j) : j;
      Random of_pair(seed + static_cast<std::uint64_t>(s) * 77 + static_cast<std::uint64_t>(low) * 100003 +
                     static_cast<std::uint64_t>(high) * 31);
      return rounded(0.1 + std::fabs(of_pair.value()));
    };
    for (Index i = 0; i < pattern.rows; ++i) {
      double sum = surplus;
      for (Offset e = pattern.row_ptr[i]; e < pattern.row_ptr[i + 1]; ++e) {
        if (pattern.col[e] == i) continue;
        const double w = weight(i, pattern.col[e]);
        batch.values[s * pattern.nnz() + e] = static_cast<T>(-w);
        sum += w;
      }
      batch.value(s, i, i) = static_cast<T>(rounded(sum));
    }
  }
  return batch;
}

/// What a solve of a batch gave, on the host.
template <class T>
struct BatchAnswer {
  BatchedReport report;
  std::vector<T> x;
};

/// Solves a batch in S, from a poisoned x or from `guess`.
template <class T, Space S>
BatchAnswer<T> solve_batch(const Context<S>& ctx, const Batch<T>& batch, const BatchedOptions& options,
                           const std::vector<T>* guess = nullptr) {
  const Csr<T, S> pattern = make_matrix<T>(ctx, batch.pattern);
  BatchedSystem<T, S> system(ctx, Pattern<S>(CsrView<T, S>(pattern)), options);
  const Array<T, S> values = upload(ctx, batch.values), b = upload(ctx, batch.b);
  Array<T, S> x = guess != nullptr ? upload(ctx, *guess) : poisoned<T>(ctx, b.size());
  BatchedReport report =
      system.solve(batch.systems, values, b, x, guess != nullptr ? InitialGuess::in_x : InitialGuess::zero);
  return {std::move(report), download(ctx, x)};
}

/// Options with these names, and defaults.
inline BatchedOptions options_of(const std::string& solver, const std::string& precond, double rel_tol) {
  BatchedOptions options;
  options.solver = solver;
  options.precond = precond;
  options.rel_tol = rel_tol;
  return options;
}

/// The matrix with its zeros.
inline Eigen::MatrixXd dense(const HostCsr& a) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(a.rows, a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_ptr[i]; e < a.row_ptr[i + 1]; ++e) result(i, a.col[e]) = a.val[e];
  }
  return result;
}

/// |x - A^-1 b| <= |A^-1| |b - A x|, with the inverse by Eigen, and what the report says against the residual in long
/// double.
template <class T>
void require_solved(const Batch<T>& batch, const BatchAnswer<T>& answer, Index s, bool compare_with_factors = true) {
  const BatchedResult& result = answer.report.systems[static_cast<std::size_t>(s)];
  const HostCsr a = batch.matrix(s);
  const std::vector<T> x = batch.part(answer.x, s), b = batch.rhs(s);
  const double residual = residual_norm(a, x, b);
  INFO("system " << s << ", " << result.solver << ", " << name_of(result.status) << ", " << result.iterations);
  REQUIRE(result.converged());
  REQUIRE(result.cause == Cause::none);
  REQUIRE(result.rhs_norm == Approx(norm_oracle(b)).epsilon(1e-12));
  REQUIRE(residual <= result.tolerance * (1 + 1e-10));
  REQUIRE(result.true_residual == Approx(residual).epsilon(1e-6).margin(1e-15 * result.rhs_norm));
  if (!compare_with_factors) return;
  Eigen::VectorXd rhs(a.rows), found(a.rows);
  for (Index i = 0; i < a.rows; ++i) rhs(i) = b[i], found(i) = x[i];
  const Eigen::MatrixXd matrix = dense(a);
  const Eigen::VectorXd expected = matrix.partialPivLu().solve(rhs);
  const double inverse_norm = matrix.inverse().norm();
  const double rounding = 1e-13 * inverse_norm * matrix.norm() * expected.norm();
  REQUIRE((found - expected).norm() <= inverse_norm * residual + rounding);
}

}  // namespace newel::testing
