// SPDX-License-Identifier: Apache-2.0
// Lanczos' method on the device, in the inner product with |D|; and the measures of a matrix by which its smoother is
// chosen.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/over_ranks.hpp"
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/blocks/placed_csr.hpp"
#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/smooth/eigenvalue.hpp"
#include "spmv/product_device.cuh"

namespace newel::detail {
namespace {

struct CopyDiagonal {
  DiagonalView diagonal;
  double* d;

  __device__ void operator()(std::int64_t i) const { d[i] = diagonal[i]; }
};

DeviceArray<double> diagonal_of(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  const DeviceArray<Offset> place = diagonal_places(ctx, a.pattern);
  DeviceArray<double> d(ctx, a.scalar_rows());
  for_elements(ctx, d.size(), CopyDiagonal{{a, place.data()}, d.data()});
  return d;
}

// The first vector, of |D|^1/2 x = 1 or -1, and 0 where d is.
struct StartLanczos {
  std::int64_t first;  // the number of row 0 in the whole matrix
  const double* d;
  double *x, *before;

  __device__ void operator()(std::int64_t i) const {
    x[i] = d[i] == 0 ? 0 : lanczos_start(first + i) / sqrt(fabs(d[i]));
    before[i] = 0;
  }
};

// Vectors stay as long as they come out: x_k is of length l_k, and x_k / l_k the vector of the method. A step reads
// the squared lengths of x_{k-1} and x_k.
struct LanczosVectors {
  const double *d, *x, *before;
  const double *squared_before, *squared;
  double* next;

  __device__ static double inverse(double squared_length) {
    return squared_length > 0 ? 1 / sqrt(squared_length) : 0;
  }
};

// The sum of a_ij x_j over a row of blocks of `size` columns, and of |a_ij|, as one of the lanes that share it sees
// them. It has several blocks under way at once.
template <int size>
struct RowSum {
  static constexpr int together = size > 3 ? 2 : 4;
  double sum = 0, absolute = 0;

  // Row r of the blocks k, k + lanes, ... before `end`.
  __device__ __forceinline__ void add(const BlockView& a, int r, Offset k, Offset end, int lanes, const double* x) {
    for (; k < end; k += together * lanes) {
      Index column[together];
      double value[together][size], at[together][size];
#pragma unroll
      for (int u = 0; u < together; ++u) {
        const Offset place = k + u * lanes;
        const bool there = place < end;
        column[u] = there ? a.pattern.col[place] : Index{-1};
        const double* const row = a.val + (place * a.m + r) * size;
#pragma unroll
        for (int c = 0; c < size; ++c) value[u][c] = there ? row[c] : 0.0;
      }
#pragma unroll
      for (int u = 0; u < together; ++u) {
#pragma unroll
        for (int c = 0; c < size; ++c) at[u][c] = column[u] >= 0 ? x[Offset{column[u]} * size + c] : 0.0;
      }
#pragma unroll
      for (int u = 0; u < together; ++u) {
#pragma unroll
        for (int c = 0; c < size; ++c) {
          sum += value[u][c] * at[u][c];
          absolute += fabs(value[u][c]);
        }
      }
    }
  }
};

// Blocks of any size.
template <>
struct RowSum<0> {
  double sum = 0, absolute = 0;

  __device__ void add(const BlockView& a, int r, Offset k, Offset end, int lanes, const double* x) {
    for (; k < end; k += lanes) {
      const double* const row = a.block(k) + r * a.n;
      for (int c = 0; c < a.n; ++c) {
        sum += row[c] * x[Offset{a.pattern.col[k]} * a.n + c];
        absolute += fabs(row[c]);
      }
    }
  }
};

// A group of lanes has a row of A: next = D^-1 A x / l - l before / l_before, and of x^T |D| next / l its part. What
// the end of a row reads is on its way before the row is. The first step also finds the largest sum of |a_ij| /
// |a_ii| over a row: positive doubles are ordered as their bits are.
template <bool first, int size>
__global__ void __launch_bounds__(ElementsTuning::threads)
    lanczos_product_kernel(BlockView a, int lanes, LanczosVectors v, double* partial, unsigned* tickets,
                           double* along, unsigned long long* largest_sum) {
  const auto thread = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  const Index rows = a.pattern.rows * a.m, step = static_cast<Index>(gridDim.x * blockDim.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const double scale = LanczosVectors::inverse(*v.squared), length = sqrt(*v.squared);
  const double of_before = first ? 0.0 : length * LanczosVectors::inverse(*v.squared_before);
  double mine = 0, largest = 0;
  for (Index shift = 0; (thread & ~Index{31}) / lanes + shift < rows; shift += step) {
    const Index i = thread / lanes + shift;
    const bool exists = i < rows, finishes = exists && lane == 0;
    const double d = finishes ? v.d[i] : 0.0, x_own = finishes ? v.x[i] : 0.0;
    const double before = finishes ? v.before[i] : 0.0;
    RowSum<size> row;
    if (exists) {
      const Index node = a.m == 1 ? i : i / a.m;
      const int r = i - node * a.m;
      row.add(a, r, a.pattern.begin(node) + lane, a.pattern.end(node), lanes, v.x);
    }
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
      row.sum += __shfl_xor_sync(0xffffffffu, row.sum, apart);
      if constexpr (first) row.absolute += __shfl_xor_sync(0xffffffffu, row.absolute, apart);
    }
    if (!finishes) continue;
    const double value = d == 0 ? 0 : row.sum / d * scale - of_before * before;
    v.next[i] = value;
    mine += fabs(d) * x_own * value;
    if (first && d != 0) largest = fmax(largest, row.absolute / fabs(d));
  }
  if constexpr (first) {
    for (int apart = 16; apart > 0; apart /= 2) largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, apart));
    if (threadIdx.x % 32 == 0) {
      atomicMax(largest_sum, static_cast<unsigned long long>(__double_as_longlong(largest)));
    }
  }
  finish_dot(mine * scale, partial, tickets, along);
}

// A thread has every (grid size)-th entry: next -= along x / l, and the squared length of that.
__global__ void __launch_bounds__(ElementsTuning::threads)
    lanczos_orthogonal_kernel(std::int64_t n, LanczosVectors v, const double* along, double* partial,
                              unsigned* tickets, double* squared_next) {
  const double factor = *along * LanczosVectors::inverse(*v.squared);
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  double mine = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const double value = v.next[i] - factor * v.x[i];
    v.next[i] = value;
    mine += fabs(v.d[i]) * value * value;
  }
  finish_dot(mine, partial, tickets, squared_next);
}

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

  __device__ void operator()(const RowLanes& at) const {
    const Index i = at.row;
    double squares = 0, differences = 0;
    for (Offset k = a.pattern.begin(i) + at.lane; k < a.pattern.end(i); k += RowLanes::count) {
      const Index j = a.pattern.col[k];
      if (j == i || j >= a.pattern.rows) continue;  // those of other ranks
      const double* const opposite = a.block(a.pattern.find(j, i));
      for (int e = 0; e < a.m * a.m; ++e) {
        const double here = a.block(k)[e], there = opposite[e % a.m * a.m + e / a.m];
        squares += here * here;
        differences += (here - there) * (here - there);
      }
    }
    squares = at.sum(squares);
    differences = at.sum(differences);
    if (at.lane > 0) return;
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
  __device__ void operator()(const RowLanes& at) const {
    const Index i = at.row;
    double own = 0, positive = 0;
    for (Offset k = a.pattern.begin(i) + at.lane; k < a.pattern.end(i); k += RowLanes::count) {
      const double value = trace(k);
      if (a.pattern.col[k] == i)
        own = value;
      else
        positive += fmax(0.0, value);
    }
    own = at.sum(own);
    positive = at.sum(positive);
    if (at.lane == 0) count[i] = positive > most_positive * own ? 1 : 0;
  }
};

// Of all ranks.
double sum_of(const DeviceContext& ctx, const DeviceArray<double>& values) {
  DeviceArray<double> total = zeros<double>(ctx, 1);
  sum(ctx, values.cspan(), total.data());
  double sum = value_at(ctx, total, 0);
  sum_over_ranks(ctx, &sum, 1);
  return sum;
}

// A sum on the device becomes that of all ranks.
void add_over_ranks(const DeviceContext& ctx, Span<double, Space::device> sum) {
  if (ranks_of(ctx) == nullptr || ranks_of(ctx)->communicator->size() == 1) return;
  double value = to_vector(ctx, sum)[0];
  sum_over_ranks(ctx, &value, 1);
  copy<double>(ctx, Span<const double, Space::host>(&value, 1), sum);
}

template <bool first>
auto product_kernel(int size) {
  switch (size) {
    case 1:
      return lanczos_product_kernel<first, 1>;
    case 2:
      return lanczos_product_kernel<first, 2>;
    case 3:
      return lanczos_product_kernel<first, 3>;
    case 6:
      return lanczos_product_kernel<first, 6>;
    default:
      return lanczos_product_kernel<first, 0>;
  }
}

int lanczos_lanes(const BlockPattern<Space::device>& a) {
  constexpr int blocks_of_lane = 4;
  int lanes = 1;
  while (lanes < 32 && lanes * blocks_of_lane * static_cast<double>(a.rows) < static_cast<double>(a.blocks())) {
    lanes *= 2;
  }
  return lanes;
}

// Few blocks, whose sums are soon added.
unsigned lanczos_blocks(const DeviceContext& ctx, std::int64_t threads) {
  constexpr unsigned blocks_per_multiprocessor = 8;
  return std::min(blocks_for(ctx, threads), blocks_per_multiprocessor * static_cast<unsigned>(ctx.multiprocessors()));
}

}  // namespace

EigenvalueBound largest_eigenvalue(const DeviceContext& ctx, const BlockCsr<Space::device>& a, int steps) {
  return largest_eigenvalue(ctx, a, steps, [](DeviceArray<double>&) {});
}

EigenvalueBound largest_eigenvalue(const DeviceContext& ctx, const BlockCsr<Space::device>& a, int steps,
                                   const std::function<void(DeviceArray<double>& x)>& fill_others) {
  const DeviceArray<double> d = diagonal_of(ctx, a);
  const std::int64_t n = d.size(), places = a.scalar_cols();  // those of other ranks too
  DeviceArray<double> vectors[3] = {DeviceArray<double>(ctx, places), DeviceArray<double>(ctx, places),
                                    DeviceArray<double>(ctx, places)};
  // Along each vector, and the squared length of each next one; that of the first at the beginning.
  DeviceArray<double> along = zeros<double>(ctx, steps), squares = zeros<double>(ctx, steps + 1);
  DeviceArray<unsigned long long> bound = zeros<unsigned long long>(ctx, 1);
  for_elements(ctx, n, StartLanczos{first_row(ctx), d.data(), vectors[1].data(), vectors[0].data()});
  const int lanes = lanczos_lanes(a.pattern);
  const unsigned of_product = lanczos_blocks(ctx, n * lanes), of_vectors = lanczos_blocks(ctx, n);
  DeviceArray<double> partial(ctx, std::max(of_product, of_vectors));
  const auto& state = ctx.state();
  // The length of the start: as if 0 along it had been taken away.
  DeviceArray<double> none = zeros<double>(ctx, 1);
  const LanczosVectors start{d.data(), vectors[0].data(), nullptr, nullptr, none.data(), vectors[1].data()};
  lanczos_orthogonal_kernel<<<of_vectors, ElementsTuning::threads, 0, state.stream()>>>(
      n, start, none.data(), partial.data(), state.tickets(), squares.data());
  NEWEL_CHECK_LAUNCH();
  add_over_ranks(ctx, squares.span().subspan(0, 1));
  for (int k = 0; k < steps; ++k) {
    fill_others(vectors[(k + 1) % 3]);
    const LanczosVectors v{
        d.data(),           vectors[(k + 1) % 3].data(), vectors[k % 3].data(), squares.data() + std::max(k - 1, 0),
        squares.data() + k, vectors[(k + 2) % 3].data()};
    const auto product = k == 0 ? product_kernel<true>(a.col_block) : product_kernel<false>(a.col_block);
    product<<<of_product, ElementsTuning::threads, 0, state.stream()>>>(
        BlockView(a), lanes, v, partial.data(), state.tickets(), along.data() + k, bound.data());
    NEWEL_CHECK_LAUNCH();
    add_over_ranks(ctx, along.span().subspan(k, 1));
    lanczos_orthogonal_kernel<<<of_vectors, ElementsTuning::threads, 0, state.stream()>>>(
        n, v, along.data() + k, partial.data(), state.tickets(), squares.data() + k + 1);
    NEWEL_CHECK_LAUNCH();
    add_over_ranks(ctx, squares.span().subspan(k + 1, 1));
  }
  const std::vector<double> alongs = to_vector(ctx, along.cspan()), lengths = to_vector(ctx, squares.cspan());
  const auto bits = static_cast<long long>(value_at(ctx, bound, 0));
  EigenvalueBound result;
  std::memcpy(&result.bound, &bits, sizeof(bits));
  max_over_ranks(ctx, &result.bound, 1);
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
  for_rows_by_lanes(ctx, a.pattern.rows, RowAsymmetry{a, all.data(), skew.data()});
  const double sum = sum_of(ctx, all);
  return sum == 0 ? 0 : std::sqrt(sum_of(ctx, skew) / sum) / 2;
}

double entangled_share(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  DeviceArray<double> count(ctx, a.pattern.rows);
  for_rows_by_lanes(ctx, a.pattern.rows, IsEntangled{a, count.data()});
  auto nodes = static_cast<double>(a.pattern.rows);
  sum_over_ranks(ctx, &nodes, 1);
  return nodes == 0 ? 0 : sum_of(ctx, count) / nodes;
}

}  // namespace newel::detail
