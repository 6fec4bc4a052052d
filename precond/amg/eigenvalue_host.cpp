// SPDX-License-Identifier: Apache-2.0
// Lanczos' method on the host, and inverses of diagonals.
#include <algorithm>
#include <cmath>

#include <purlin/core/parallel.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/eigenvalue.hpp>

namespace purlin::detail {
namespace {

std::vector<double> diagonal_of(const HostContext& ctx, const HostBlockCsr& a) {
  std::vector<double> d(static_cast<std::size_t>(a.scalar_rows()), 0.0);
  parallel_for(ctx, a.pattern.rows, [&](Index i) {
    const Offset at = diagonal_at(a.pattern, i);
    for (int r = 0; r < a.row_block && at >= 0; ++r) {
      d[static_cast<std::size_t>(i) * a.row_block + r] = a.block(at)[r * a.row_block + r];
    }
  });
  return d;
}

// The largest sum of |a_ij| / |a_ii| over a row.
double row_sum_bound(const HostContext& ctx, const HostBlockCsr& a, const std::vector<double>& d) {
  return parallel_max(ctx, a.scalar_rows(), 0.0, [&](Index i) {
    if (d[i] == 0) return 0.0;
    const Index node = i / a.row_block, r = i % a.row_block;
    double sum = 0;
    for (Offset k = a.pattern.row_ptr[node]; k < a.pattern.row_ptr[node + 1]; ++k) {
      for (int c = 0; c < a.col_block; ++c) sum += std::fabs(a.block(k)[r * a.col_block + c]);
    }
    return sum / std::fabs(d[i]);
  });
}

Span<const double, Space::host> span_of(const std::vector<double>& x) {
  return {x.data(), static_cast<std::int64_t>(x.size())};
}

}  // namespace

EigenvalueBound largest_eigenvalue(const HostContext& ctx, const HostBlockCsr& a, int steps) {
  const std::vector<double> d = diagonal_of(ctx, a);
  const auto n = static_cast<std::int64_t>(d.size());
  std::vector<double> x(d.size()), before(d.size(), 0.0), y, weighted(d.size());
  parallel_for(ctx, n, [&](std::int64_t i) {
    const double size = std::fabs(d[i]);
    x[i] = size == 0 ? 0 : lanczos_start(i) / std::sqrt(size);
  });
  // u^T |D| v, in which D^-1 A is symmetric where A is.
  const auto product = [&](const std::vector<double>& u, const std::vector<double>& v) {
    parallel_for(ctx, n, [&](std::int64_t i) { weighted[i] = std::fabs(d[i]) * u[i]; });
    double result = 0;
    dot(ctx, span_of(weighted), span_of(v), &result);
    return result;
  };
  std::vector<double> alpha, beta;
  double length = std::sqrt(product(x, x));
  for (int step = 0; step < steps && length > 0; ++step) {
    parallel_for(ctx, n, [&](std::int64_t i) { x[i] /= length; });
    multiply(ctx, a, x, y);
    parallel_for(ctx, n, [&](std::int64_t i) { y[i] = d[i] == 0 ? 0 : y[i] / d[i] - length * before[i]; });
    const double along = product(x, y);
    parallel_for(ctx, n, [&](std::int64_t i) { y[i] -= along * x[i]; });
    alpha.push_back(along);
    beta.push_back(length = std::sqrt(product(y, y)));
    std::swap(before, x);
    std::swap(x, y);
    if (!std::isfinite(length) || length <= negligible_length * std::fabs(along)) break;
  }
  const double lambda = tridiagonal_largest(alpha, beta), bound = row_sum_bound(ctx, a, d);
  return {std::isfinite(lambda) ? std::min(lambda, bound) : bound, bound};
}

void scaled_inverse_diagonal(const HostContext& ctx, const HostBlockCsr& a, double lambda, std::vector<double>& d) {
  d = diagonal_of(ctx, a);
  parallel_for(ctx, static_cast<std::int64_t>(d.size()),
               [&](std::int64_t i) { d[i] = d[i] == 0 || lambda == 0 ? 0 : 1 / (d[i] * lambda); });
}

}  // namespace purlin::detail
