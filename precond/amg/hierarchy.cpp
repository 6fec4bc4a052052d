// SPDX-License-Identifier: Apache-2.0
// Level after level until the matrix is small enough to be inverted, or does not get smaller.
#include <purlin/precond/amg/hierarchy.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <purlin/core/parallel.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/amg_smoother.hpp>
#include <purlin/precond/amg/small_dense.hpp>

namespace purlin::detail {
namespace {

constexpr std::size_t most_levels = 24;
constexpr double least_coarsening = 0.8;   // a level with more than this share of the nodes before is not worth it
constexpr Index coarse_width = 2;          // coarse levels, which have few entries, get wider prolongators
constexpr double damping = 4.0 / 3.0;      // omega = 4 / (3 lambda), as usual for smoothed aggregation
constexpr double eigenvalue_margin = 1.1;  // Ritz values come from below
constexpr int steps_for_smoothers = 10;    // of Lanczos' method
constexpr int steps_for_prolongators = 6;
constexpr double negligible = 1e-14;  // of a Krylov space that ends

std::vector<double> diagonal_of(const HostContext& ctx, const BlockCsr& a) {
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
double row_sum_bound(const HostContext& ctx, const BlockCsr& a, const std::vector<double>& d) {
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

double random_sign(std::size_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
  return (z >> 63) != 0 ? 1.0 : -1.0;
}

// The largest eigenvalue of the symmetric tridiagonal matrix with this diagonal and beside it beta_0, beta_1 ..., the
// last of which does not count: by bisection, a matrix minus t having as many negative pivots as eigenvalues below t.
double tridiagonal_largest(const std::vector<double>& alpha, const std::vector<double>& beta) {
  const std::size_t n = alpha.size();
  double low = 0, high = 0;
  for (std::size_t i = 0; i < n; ++i) {
    low = i == 0 ? alpha[i] : std::max(low, alpha[i]);
    high = std::max(high, alpha[i] + (i == 0 ? 0 : beta[i - 1]) + (i + 1 == n ? 0 : beta[i]));
  }
  if (n == 0 || !std::isfinite(high)) return high;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    double pivot = alpha[0] - middle;
    bool all_below = pivot < 0;
    for (std::size_t i = 1; i < n && all_below; ++i) {
      pivot = alpha[i] - middle - beta[i - 1] * beta[i - 1] / pivot;
      all_below = pivot < 0;
    }
    (all_below ? high : low) = middle;
  }
  return high;
}

bool wider_than(const BlockPattern& p, Index width) {
  for (Index i = 0; i < p.rows; ++i) {
    if (p.row_ptr[i + 1] - p.row_ptr[i] > width) return true;
  }
  return false;
}

}  // namespace

EigenvalueBound largest_eigenvalue(const HostContext& ctx, const BlockCsr& a, int steps) {
  const std::vector<double> d = diagonal_of(ctx, a);
  const auto n = static_cast<std::int64_t>(d.size());
  std::vector<double> x(d.size()), before(d.size(), 0.0), y, weighted(d.size());
  parallel_for(ctx, n, [&](std::int64_t i) {
    const double size = std::fabs(d[i]);
    x[i] = size == 0 ? 0 : random_sign(static_cast<std::size_t>(i)) / std::sqrt(size);
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
    if (!std::isfinite(length) || length <= negligible * std::fabs(along)) break;
  }
  const double lambda = tridiagonal_largest(alpha, beta), bound = row_sum_bound(ctx, a, d);
  return {std::isfinite(lambda) ? std::min(lambda, bound) : bound, bound};
}

AmgHierarchy::AmgHierarchy(const HostContext& ctx, BlockCsr a, const NearNull& near_null, const AmgOptions& options,
                           double epsilon)
    : max_coarse_(options.max_coarse), max_width_(options.max_width), smoother_(options.smoother), epsilon_(epsilon) {
  levels_.emplace_back();
  levels_.back().a = std::move(a);
  PhaseClock clock;
  NearNull now = near_null;
  while (levels_.back().a.scalar_rows() > max_coarse_ && remark_.empty()) {
    now = coarsen(ctx, now, options, clock);
  }
  finish(ctx, clock);
  seconds_ = clock.seconds();
}

// Adds a level, or says in the remark why not.
NearNull AmgHierarchy::coarsen(const HostContext& ctx, const NearNull& near_null, const AmgOptions& options,
                               PhaseClock& clock) {
  AmgLevel& level = levels_.back();
  Strength strength = find_strength(ctx, level.a, options.theta);
  clock.end("strength");
  Aggregates aggregates = aggregate(ctx, strength);
  clock.end("aggregates");
  if (aggregates.count == 0) {
    remark_ = "the smoother alone, as no rows are strongly connected";
  } else if (aggregates.count * static_cast<double>(near_null.vectors) > least_coarsening * level.a.scalar_rows()) {
    remark_ = "the last level does not get smaller";
  } else if (levels_.size() == most_levels) {
    remark_ = "no more than " + std::to_string(most_levels) + " levels";
  }
  if (!remark_.empty()) return {};
  level.aggregates = std::move(aggregates);
  const bool all_kept = std::all_of(strength.kept.begin(), strength.kept.end(), [](unsigned char k) { return k; });
  if (!all_kept) level.kept = std::move(strength.kept);
  level.tentative = make_tentative(ctx, level.aggregates, level.a.row_block, near_null);
  compute_prolongator(ctx, level);
  clock.end("prolongators");
  BlockCsr coarse;
  level.galerkin = GalerkinProduct(ctx, level.a, level.p, coarse);
  clock.end("galerkin products");
  NearNull next = level.tentative.coarse;
  levels_.emplace_back();
  levels_.back().a = std::move(coarse);
  return next;
}

// On the pattern that P has; without one, on that of the smoothed prolongator.
void AmgHierarchy::compute_prolongator(const HostContext& ctx, AmgLevel& level) {
  BlockCsr filtered;
  if (!level.kept.empty()) filtered = filter(ctx, level.a, level.kept);
  const BlockCsr& a = level.kept.empty() ? level.a : filtered;
  const double lambda = largest_eigenvalue(ctx, a, steps_for_prolongators).lambda;
  const double omega = lambda > 0 ? damping / lambda : 0;
  const bool first = level.last();
  if (first) {
    level.p.row_block = level.a.row_block;
    level.p.col_block = level.tentative.coarse.vectors;
    level.p.pattern = prolongator_pattern(ctx, a.pattern, level.aggregates);
    level.p.val = Array<double, Space::host>(ctx, level.p.pattern.blocks() * level.p.block_size());
  }
  smooth_prolongator(ctx, a, omega, level.aggregates, level.tentative, level.p);
  const Index width = &level == &levels_.front() ? max_width_ : coarse_width * max_width_;
  if (!first || !wider_than(level.p.pattern, width)) return;
  level.p.pattern = narrowed(ctx, level.p, level.aggregates, width);
  level.p.val = Array<double, Space::host>(ctx, level.p.pattern.blocks() * level.p.block_size());
  smooth_prolongator(ctx, a, omega, level.aggregates, level.tentative, level.p);
}

// The smoothers, and the inverse of the last matrix.
void AmgHierarchy::finish(const HostContext& ctx, PhaseClock& clock) {
  const BlockCsr& coarsest = levels_.back().a;
  const auto n = static_cast<int>(coarsest.scalar_rows());
  const bool invert = n <= max_coarse_;
  for (AmgLevel& level : levels_) {
    if (invert && &level == &levels_.back()) continue;
    const EigenvalueBound found = largest_eigenvalue(ctx, level.a, steps_for_smoothers);
    level.lambda = std::min(eigenvalue_margin * found.lambda, found.bound);
    if (!decided_) level.smoother = choose_smoother(ctx, level.a, smoother_);
    const std::vector<double> d = diagonal_of(ctx, level.a);
    level.smoother_diagonal.resize(d.size());
    parallel_for(ctx, static_cast<std::int64_t>(d.size()), [&](std::int64_t i) {
      level.smoother_diagonal[i] = d[i] == 0 || level.lambda == 0 ? 0 : 1 / (d[i] * level.lambda);
    });
  }
  decided_ = true;
  clock.end("smoothers");
  if (!invert) return;
  std::vector<double> dense(static_cast<std::size_t>(n) * n, 0.0);
  const int b = coarsest.row_block;
  for (Index i = 0; i < coarsest.pattern.rows; ++i) {
    for (Offset k = coarsest.pattern.row_ptr[i]; k < coarsest.pattern.row_ptr[i + 1]; ++k) {
      for (int e = 0; e < b * b; ++e) {
        const auto row = static_cast<std::size_t>(i) * b + e / b;
        dense[row * n + static_cast<std::size_t>(coarsest.pattern.col[k]) * b + e % b] = coarsest.block(k)[e];
      }
    }
  }
  // Of a singular matrix a pivot remains that the elimination's rounding has left, or that of the values.
  const double of_elimination = 16 * std::sqrt(static_cast<double>(n)) * std::numeric_limits<double>::epsilon();
  DenseInverse inverse = dense_inverse(n, dense, std::max(of_elimination, 8 * epsilon_));
  inverse_ = std::move(inverse.values);
  null_vectors_ = inverse.null_vectors;
  clock.end("coarsest inverse");
}

void AmgHierarchy::refresh(const HostContext& ctx, bool prolongators) {
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    if (prolongators) compute_prolongator(ctx, levels_[l]);
    levels_[l].galerkin.compute(ctx, levels_[l].a, levels_[l].p, levels_[l + 1].a);
  }
  PhaseClock clock;
  finish(ctx, clock);
}

double AmgHierarchy::operator_complexity() const {
  double entries = 0;
  for (const AmgLevel& level : levels_) entries += static_cast<double>(level.a.val.size());
  const auto first = static_cast<double>(levels_.front().a.val.size());
  return first == 0 ? 1 : entries / first;
}

std::uint64_t AmgHierarchy::bytes() const {
  std::uint64_t bytes = inverse_.size() * sizeof(double);
  for (const AmgLevel& level : levels_) {
    bytes += level.a.bytes() + level.p.bytes() + level.galerkin.bytes() + level.kept.size() +
             sizeof(double) * (level.smoother_diagonal.size() + level.tentative.q.size()) +
             sizeof(Index) * level.aggregates.of_node.size();
  }
  return bytes;
}

}  // namespace purlin::detail
