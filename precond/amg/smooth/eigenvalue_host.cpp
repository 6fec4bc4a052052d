// SPDX-License-Identifier: Apache-2.0
// Lanczos' method on the host, and inverses of diagonals.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <newel/core/parallel.hpp>
#include "core/vectors/over_ranks.hpp"
#include "precond/amg/smooth/eigenvalue.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
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

// The sum of f(i) over [0, n) and all ranks, in parts that do not depend on the number of threads.
template <class F>
double sum_of(const HostContext& ctx, Index n, F&& f) {
  constexpr Index at_once = 2048;
  std::vector<double> parts(static_cast<std::size_t>(n / at_once + 1), 0.0);
  parallel_tasks(ctx, static_cast<Index>(parts.size()), [&](Index part) {
    const Index end = std::min(n, (part + 1) * at_once);
    with_wide_vectors([&] {
      double sum = 0;
      for (Index i = part * at_once; i < end; ++i) sum += f(i);
      parts[static_cast<std::size_t>(part)] = sum;
    });
  });
  double total = std::accumulate(parts.begin(), parts.end(), 0.0);
  sum_over_ranks(ctx, &total, 1);
  return total;
}

// A x in row `node` of blocks of b x b; b = 0: of any size. The rows of a node side by side: the sum of one would
// wait for itself.
template <int b>
void row_product(const HostBlockCsr& a, const std::vector<double>& x, Index node, double* y) {
  const Offset begin = a.pattern.row_ptr[node], end = a.pattern.row_ptr[node + 1];
  if constexpr (b == 1) {
    *y = sum_run<false>(a.val.data(), a.pattern.col.data(), begin, end, x.data());
  } else {
    const int block = b == 0 ? a.col_block : b;
    std::fill_n(y, block, 0.0);
    for (Offset k = begin; k < end; ++k) {
      const double* const from = x.data() + static_cast<std::size_t>(a.pattern.col[k]) * block;
      for (int r = 0; r < block; ++r) {
        double sum = 0;
        for (int c = 0; c < block; ++c) sum += a.block(k)[r * block + c] * from[c];
        y[r] += sum;
      }
    }
  }
}

// Lanczos' method with one pass for the product and one for what makes it orthogonal. Inner products are
// u^T |D| v, in which D^-1 A is symmetric where A is.
template <int b>
double lanczos(const HostContext& ctx, const HostBlockCsr& a, const std::vector<double>& d, int steps,
               const std::function<void(std::vector<double>&)>& fill_others) {
  const auto n = static_cast<Index>(d.size());
  const int block = b == 0 ? a.row_block : b;
  const auto places = static_cast<std::size_t>(a.scalar_cols());  // those of other ranks too
  const std::int64_t first = first_row(ctx);
  std::vector<double> x(places), before(places, 0.0), y(places);
  double length = std::sqrt(sum_of(ctx, n, [&](Index i) {
    const double size = std::fabs(d[i]);
    x[i] = size == 0 ? 0 : lanczos_start(first + i) / std::sqrt(size);
    return size * x[i] * x[i];
  }));
  std::vector<double> alpha, beta;
  for (int step = 0; step < steps && length > 0; ++step) {
    parallel_for(ctx, n, [&](Index i) { x[i] /= length; });
    fill_others(x);
    const double along = sum_of(ctx, n / block, [&](Index node) {
      double sum = 0;
      row_product<b>(a, x, node, y.data() + Offset{node} * block);
      for (Index i = node * block; i < (node + 1) * block; ++i) {
        y[i] = d[i] == 0 ? 0 : y[i] / d[i] - length * before[i];
        sum += std::fabs(d[i]) * x[i] * y[i];
      }
      return sum;
    });
    const double square = sum_of(ctx, n, [&](Index i) {
      y[i] -= along * x[i];
      return std::fabs(d[i]) * y[i] * y[i];
    });
    alpha.push_back(along);
    beta.push_back(length = std::sqrt(square));
    std::swap(before, x);
    std::swap(x, y);
    if (!std::isfinite(length) || length <= negligible_length * std::fabs(along)) break;
  }
  return tridiagonal_largest(alpha, beta);
}

}  // namespace

EigenvalueBound largest_eigenvalue(const HostContext& ctx, const HostBlockCsr& a, int steps) {
  return largest_eigenvalue(ctx, a, steps, [](std::vector<double>&) {});
}

EigenvalueBound largest_eigenvalue(const HostContext& ctx, const HostBlockCsr& a, int steps,
                                   const std::function<void(std::vector<double>& x)>& fill_others) {
  const std::vector<double> d = diagonal_of(ctx, a);
  const double lambda = a.row_block == 1   ? lanczos<1>(ctx, a, d, steps, fill_others)
                        : a.row_block == 3 ? lanczos<3>(ctx, a, d, steps, fill_others)
                        : a.row_block == 6 ? lanczos<6>(ctx, a, d, steps, fill_others)
                                           : lanczos<0>(ctx, a, d, steps, fill_others);
  double bound = row_sum_bound(ctx, a, d);
  max_over_ranks(ctx, &bound, 1);
  return {std::isfinite(lambda) ? std::min(lambda, bound) : bound, bound};
}

void scaled_inverse_diagonal(const HostContext& ctx, const HostBlockCsr& a, double lambda, std::vector<double>& d) {
  d = diagonal_of(ctx, a);
  parallel_for(ctx, static_cast<std::int64_t>(d.size()),
               [&](std::int64_t i) { d[i] = d[i] == 0 || lambda == 0 ? 0 : 1 / (d[i] * lambda); });
}

}  // namespace newel::detail
