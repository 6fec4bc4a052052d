// SPDX-License-Identifier: Apache-2.0
// Lanczos' method on the device, in the variables |D|^1/2 x, for which the inner product is the usual one; and the
// measures of a matrix by which its smoother is chosen.
#include <cmath>
#include <cstring>

#include <purlin/core/vector_ops.hpp>
#include <purlin/precond/amg/amg_smoother.hpp>
#include <purlin/precond/amg/eigenvalue.hpp>
#include <purlin/precond/amg/elements_device.cuh>
#include <purlin/precond/amg/placed_csr.hpp>

namespace purlin::detail {
namespace {

struct Diagonal {
  BlockView a;
  const Offset* place;
  double* d;

  __device__ void operator()(std::int64_t i) const {
    const auto r = static_cast<int>(i % a.m);
    const Offset at = place[i / a.m];
    d[i] = at < 0 ? 0.0 : a.block(at)[r * a.m + r];
  }
};

DeviceArray<double> diagonal_of(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  const DeviceArray<Offset> place = diagonal_places(ctx, a.pattern);
  DeviceArray<double> d(ctx, a.scalar_rows());
  for_elements(ctx, d.size(), Diagonal{a, place.data(), d.data()});
  return d;
}

// s = |d|^-1/2, 0 where d is; u its start, of the length that it is.
struct StartLanczos {
  const double* d;
  double *s, *u, *before;

  __device__ void operator()(std::int64_t i) const {
    s[i] = d[i] == 0 ? 0 : 1 / sqrt(fabs(d[i]));
    u[i] = d[i] == 0 ? 0 : lanczos_start(i);
    before[i] = 0;
  }
};

// A group of lanes has a row of blocks: w = sign(d) S A S u - length before. Also the row's sum of |a_ij| / |a_ii|,
// of which the largest is kept: positive doubles are ordered as their bits are.
constexpr int row_lanes = 8;

__global__ void __launch_bounds__(ElementsTuning::threads)
    lanczos_product_kernel(BlockView a, const double* d, const double* s, const double* u, const double* before,
                           const double* squared_length, double* w, unsigned long long* largest_sum) {
  const int lane = static_cast<int>(threadIdx.x) % row_lanes;
  const double length = sqrt(*squared_length);
  const std::int64_t rows = std::int64_t{a.pattern.rows} * a.m;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x / row_lanes;
  const std::int64_t group = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / row_lanes;
  const std::int64_t rounds = (rows + step - 1) / step;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::int64_t i = group + round * step;
    double sum = 0, absolute = 0;
    if (i < rows) {
      const auto node = static_cast<Index>(i / a.m);
      const auto r = static_cast<int>(i % a.m);
      for (Offset k = a.pattern.begin(node) + lane; k < a.pattern.end(node); k += row_lanes) {
        const double* const row = a.block(k) + r * a.n;
        const std::int64_t first = std::int64_t{a.pattern.col[k]} * a.n;
        for (int c = 0; c < a.n; ++c) {
          sum += row[c] * s[first + c] * u[first + c];
          absolute += fabs(row[c]);
        }
      }
    }
    for (int apart = row_lanes / 2; apart > 0; apart /= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, apart);
      absolute += __shfl_xor_sync(0xffffffffu, absolute, apart);
    }
    if (i >= rows || lane != 0) continue;
    w[i] = (d[i] < 0 ? -s[i] : s[i]) * sum - length * before[i];
    if (largest_sum != nullptr && d[i] != 0) {
      atomicMax(largest_sum, static_cast<unsigned long long>(__double_as_longlong(absolute / fabs(d[i]))));
    }
  }
}

// The first vector, divided by its length.
struct Normalise {
  const double* squared_length;
  double* u;

  __device__ void operator()(std::int64_t i) const { u[i] /= sqrt(*squared_length); }
};

struct TakeAway {
  const double* along;
  const double* u;
  double* w;

  __device__ void operator()(std::int64_t i) const { w[i] -= *along * u[i]; }
};

struct NextVector {
  const double* squared_length;
  const double* w;
  double *u, *before;

  __device__ void operator()(std::int64_t i) const {
    before[i] = u[i];
    u[i] = *squared_length > 0 ? w[i] / sqrt(*squared_length) : 0;
  }
};

struct RegularDiagonal {
  int size, m;
  const Offset* place;
  double* val;

  __device__ void operator()(std::int64_t i) const {
    for (int r = 0; r < m && place[i] >= 0; ++r) {
      double& entry = val[place[i] * size + r * (m + 1)];
      if (entry == 0) entry = 1;
    }
  }
};

struct InverseDiagonal {
  double lambda;
  double* d;

  __device__ void operator()(std::int64_t i) const { d[i] = d[i] == 0 || lambda == 0 ? 0 : 1 / (d[i] * lambda); }
};

// Of each row the squares of what is off the diagonal, and of what is antisymmetric in it.
struct RowAsymmetry {
  BlockView a;
  double *all, *skew;

  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    double squares = 0, differences = 0;
    for (Offset k = a.pattern.begin(i); k < a.pattern.end(i); ++k) {
      const Index j = a.pattern.col[k];
      if (j == i) continue;
      const double* const opposite = a.block(a.pattern.find(j, i));
      for (int e = 0; e < a.m * a.m; ++e) {
        const double here = a.block(k)[e], there = opposite[e % a.m * a.m + e / a.m];
        squares += here * here;
        differences += (here - there) * (here - there);
      }
    }
    all[i] = squares;
    skew[i] = differences;
  }
};

struct IsEntangled {
  BlockView a;
  double* count;

  __device__ double trace(Offset k) const {
    double sum = 0;
    for (int r = 0; r < a.m; ++r) sum += a.block(k)[r * (a.m + 1)];
    return sum;
  }
  __device__ void operator()(std::int64_t row) const {
    const auto i = static_cast<Index>(row);
    double own = 0, positive = 0;
    for (Offset k = a.pattern.begin(i); k < a.pattern.end(i); ++k) {
      const double value = trace(k);
      if (a.pattern.col[k] == i)
        own = value;
      else
        positive += fmax(0.0, value);
    }
    count[i] = positive > most_positive * own ? 1 : 0;
  }
};

double sum_of(const DeviceContext& ctx, const DeviceArray<double>& values) {
  DeviceArray<double> total = zeros<double>(ctx, 1);
  sum(ctx, values.cspan(), total.data());
  return value_at(ctx, total, 0);
}

}  // namespace

EigenvalueBound largest_eigenvalue(const DeviceContext& ctx, const BlockCsr<Space::device>& a, int steps) {
  const DeviceArray<double> d = diagonal_of(ctx, a);
  const std::int64_t n = d.size();
  DeviceArray<double> s(ctx, n), u(ctx, n), before(ctx, n), w(ctx, n);
  // Along each vector, and the squared length of each next one; that of the first at the beginning.
  DeviceArray<double> along = zeros<double>(ctx, steps), squares = zeros<double>(ctx, steps + 1);
  DeviceArray<unsigned long long> bound = zeros<unsigned long long>(ctx, 1);
  DeviceArray<double> no_length = zeros<double>(ctx, 1);
  for_elements(ctx, n, StartLanczos{d.data(), s.data(), u.data(), before.data()});
  dot<double>(ctx, u.cspan(), u.cspan(), squares.data());
  for_elements(ctx, n, Normalise{squares.data(), u.data()});
  const unsigned blocks = blocks_for(ctx, n * row_lanes);
  for (int step = 0; step < steps; ++step) {
    lanczos_product_kernel<<<blocks, ElementsTuning::threads, 0, ctx.state().stream()>>>(
        BlockView(a), d.data(), s.data(), u.data(), before.data(),
        step == 0 ? no_length.data() : squares.data() + step, w.data(), step == 0 ? bound.data() : nullptr);
    PURLIN_CHECK_LAUNCH();
    dot<double>(ctx, u.cspan(), w.cspan(), along.data() + step);
    for_elements(ctx, n, TakeAway{along.data() + step, u.data(), w.data()});
    dot<double>(ctx, w.cspan(), w.cspan(), squares.data() + step + 1);
    for_elements(ctx, n, NextVector{squares.data() + step + 1, w.data(), u.data(), before.data()});
  }
  const std::vector<double> alongs = to_vector(ctx, along.cspan()), lengths = to_vector(ctx, squares.cspan());
  const auto bits = static_cast<long long>(value_at(ctx, bound, 0));
  EigenvalueBound result;
  std::memcpy(&result.bound, &bits, sizeof(bits));
  std::vector<double> alpha, beta;
  for (std::size_t k = 0; k < alongs.size() && lengths[0] > 0; ++k) {
    alpha.push_back(alongs[k]);
    beta.push_back(std::sqrt(lengths[k + 1]));
    if (!std::isfinite(beta.back()) || beta.back() <= negligible_length * std::fabs(alpha.back())) break;
  }
  const double lambda = tridiagonal_largest(alpha, beta);
  result.lambda = std::isfinite(lambda) ? std::min(lambda, result.bound) : result.bound;
  return result;
}

void scaled_inverse_diagonal(const DeviceContext& ctx, const BlockCsr<Space::device>& a, double lambda,
                             DeviceArray<double>& d) {
  d = diagonal_of(ctx, a);
  for_elements(ctx, d.size(), InverseDiagonal{lambda, d.data()});
}

DeviceArray<double> regular_values(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  DeviceArray<double> values = make_array(ctx, a.val.cspan());
  const DeviceArray<Offset> place = diagonal_places(ctx, a.pattern);
  for_elements(ctx, a.pattern.rows, RegularDiagonal{a.block_size(), a.row_block, place.data(), values.data()});
  return values;
}

double antisymmetric_share(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  DeviceArray<double> all(ctx, a.pattern.rows), skew(ctx, a.pattern.rows);
  for_elements(ctx, a.pattern.rows, RowAsymmetry{a, all.data(), skew.data()});
  const double sum = sum_of(ctx, all);
  return sum == 0 ? 0 : std::sqrt(sum_of(ctx, skew) / sum) / 2;
}

double entangled_share(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  DeviceArray<double> count(ctx, a.pattern.rows);
  for_elements(ctx, a.pattern.rows, IsEntangled{a, count.data()});
  return a.pattern.rows == 0 ? 0 : sum_of(ctx, count) / a.pattern.rows;
}

}  // namespace purlin::detail
