// SPDX-License-Identifier: Apache-2.0
// Sparse matrix products on the device. A value of a product is the sum of one thread, or a block that of one warp,
// which looks in the rows of the second matrix for its column: nothing is added atomically, and sums have a fixed
// order.
#include <algorithm>

#include "precond/amg/transfer/galerkin.hpp"
#include "precond/amg/blocks/pattern_rows_device.cuh"

namespace newel::detail {
namespace {

// Columns of row i of A B: a lane has some of the rows of B.
struct ProductColumns {
  PatternView a, b;

  template <class F>
  __device__ void visit(Index i, int lane, int lanes, F&& f) const {
    for (Offset k = a.begin(i) + lane; k < a.end(i); k += lanes) {
      const Index row = a.col[k];
      for (Offset l = b.begin(row); l < b.end(row); ++l) f(b.col[l]);
    }
  }
};

// The rows, inner columns and columns of the product of two blocks; 0: known when it runs only.
template <int m, int k, int n>
struct BlockShape {
  static constexpr int rows = m, inner = k, columns = n;
};

// C = A B, or P^T B where `source` says where the blocks of P^T stand among those of P.
struct ProductView {
  BlockView left;     // A or P
  PatternView terms;  // the pattern of A or of P^T
  const Offset* source;
  BlockView b;
  PatternView c;
  const Index* row_of;
  double* val;

  __device__ bool transposed() const { return source != nullptr; }
  // As the blocks say.
  int block_rows() const { return source != nullptr ? left.n : left.m; }
  int block_inner() const { return source != nullptr ? left.m : left.n; }
  template <class Shape>
  __device__ int rows() const {
    return Shape::rows > 0 ? Shape::rows : transposed() ? left.n : left.m;
  }
  template <class Shape>
  __device__ int inner() const {
    return Shape::inner > 0 ? Shape::inner : transposed() ? left.m : left.n;
  }
  template <class Shape>
  __device__ int columns() const {
    return Shape::columns > 0 ? Shape::columns : b.n;
  }
  // Entry (r, column) of the product of two blocks.
  template <class Shape>
  __device__ __forceinline__ double term(const double* a, const double* right, int r, int column) const {
    const int first = transposed() ? r : r * inner<Shape>(), step = transposed() ? rows<Shape>() : 1;
    double sum = 0;
#pragma unroll
    for (int q = 0; q < inner<Shape>(); ++q) sum += a[first + q * step] * right[q * columns<Shape>() + column];
    return sum;
  }
  __device__ const double* left_block(Offset l) const { return left.block(transposed() ? source[l] : l); }
};

struct LaneProductTuning {
  static constexpr int threads = 256;
  static constexpr std::int64_t many_threads = 1
                                               << 21;  // enough of them hide that each has a long row to look through
};

// A group of lanes has one value: each lane adds every (lanes)-th term.
template <class Shape>
__global__ void __launch_bounds__(LaneProductTuning::threads)
    product_by_lanes_kernel(std::int64_t values, int lanes, ProductView p) {
  const int columns = p.columns<Shape>(), size = p.rows<Shape>() * columns;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x / lanes;
  for (std::int64_t shift = 0; (thread & ~std::int64_t{31}) / lanes + shift < values; shift += step) {
    const std::int64_t t = thread / lanes + shift;
    double sum = 0;
    if (t < values) {
      const Offset k = size == 1 ? t : t / size;
      const auto e = static_cast<int>(t - k * size);
      const Index i = p.row_of[k], j = p.c.col[k];
      const Offset end = p.terms.end(i);
      for (Offset l = p.terms.begin(i) + lane; l < end; l += lanes) {
        const Offset at = p.b.pattern.find(p.terms.col[l], j);
        if (at >= 0) sum += p.term<Shape>(p.left_block(l), p.b.block(at), e / columns, e % columns);
      }
    }
    for (int apart = lanes / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (t < values && lane == 0) p.val[t] = sum;
  }
}

struct WarpProductTuning {
  static constexpr int threads = 256;
  static constexpr int least_size = 9;  // values of a block
  static constexpr int values = 2;      // of a lane at once: blocks of up to 64 are done in one go
};

// A warp has a block: each lane looks for the column in one of 32 rows, and then all lanes add the terms that were
// found, one after the other, each to its own values.
template <class Shape>
__global__ void __launch_bounds__(WarpProductTuning::threads) product_by_warps_kernel(Offset blocks, ProductView p) {
  constexpr int values = WarpProductTuning::values;
  const int lane = static_cast<int>(threadIdx.x % 32), columns = p.columns<Shape>();
  const int size = p.rows<Shape>() * columns;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x / 32;
  for (std::int64_t k = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; k < blocks; k += step) {
    const Index i = p.row_of[k], j = p.c.col[k];
    const Offset end = p.terms.end(i);
    for (int first = 0; first < size; first += 32 * values) {
      double sum[values] = {};
      for (Offset l = p.terms.begin(i); l < end; l += 32) {
        const Offset mine = l + lane < end ? p.b.pattern.find(p.terms.col[l + lane], j) : Offset{-1};
        const Offset left = mine >= 0 && p.transposed() ? p.source[l + lane] : l + lane;
        for (unsigned found = __ballot_sync(0xffffffffu, mine >= 0); found != 0; found &= found - 1) {
          const int from = __ffs(static_cast<int>(found)) - 1;
          const double* const right = p.b.block(__shfl_sync(0xffffffffu, mine, from));
          const double* const a = p.left.block(__shfl_sync(0xffffffffu, left, from));
#pragma unroll
          for (int u = 0; u < values; ++u) {
            const int e = first + u * 32 + lane;
            if (e < size) sum[u] += p.term<Shape>(a, right, e / columns, e % columns);
          }
        }
      }
#pragma unroll
      for (int u = 0; u < values; ++u) {
        const int e = first + u * 32 + lane;
        if (e < size) p.val[k * size + e] = sum[u];
      }
    }
  }
}

// `terms` in all rows: of A, or of P^T.
template <class Shape>
void compute_as(const DeviceContext& ctx, Offset blocks, const ProductView& p, int size, Offset terms) {
  const auto stream = ctx.state().stream();
  if (size < WarpProductTuning::least_size) {
    const std::int64_t values = blocks * size;
    const double of_row = static_cast<double>(terms) / p.terms.rows;
    int lanes = 1;
    while (lanes < 32 && lanes < of_row && values * lanes < LaneProductTuning::many_threads) lanes *= 2;
    const unsigned grid = blocks_for(ctx, values * lanes);
    product_by_lanes_kernel<Shape><<<grid, LaneProductTuning::threads, 0, stream>>>(values, lanes, p);
  } else {
    product_by_warps_kernel<Shape>
        <<<blocks_for(ctx, blocks * 32), WarpProductTuning::threads, 0, stream>>>(blocks, p);
  }
  NEWEL_CHECK_LAUNCH();
}

template <int m, int k, int n>
bool has_shape(const ProductView& p) {
  return p.block_rows() == m && p.block_inner() == k && p.b.n == n;
}

// In kernels of their own the shapes that diffusion and elasticity have, in space and in the plane.
void compute(const DeviceContext& ctx, Offset blocks, const ProductView& p, int size, Offset terms) {
  if (blocks == 0) return;
  const auto as = [&](auto shape) { compute_as<decltype(shape)>(ctx, blocks, p, size, terms); };
  if (has_shape<1, 1, 1>(p)) return as(BlockShape<1, 1, 1>{});
  if (has_shape<3, 3, 6>(p)) return as(BlockShape<3, 3, 6>{});
  if (has_shape<6, 3, 6>(p)) return as(BlockShape<6, 3, 6>{});
  if (has_shape<6, 6, 6>(p)) return as(BlockShape<6, 6, 6>{});
  if (has_shape<3, 3, 3>(p)) return as(BlockShape<3, 3, 3>{});
  as(BlockShape<0, 0, 0>{});
}

// Rows of a mean of more candidates are collected by whole warps.
constexpr double many_candidates = 64;

}  // namespace

BlockPattern<Space::device> product_pattern(const DeviceContext& ctx, const BlockPattern<Space::device>& a,
                                            const BlockPattern<Space::device>& b) {
  const ProductColumns columns{a, b};
  const double of_a = static_cast<double>(a.blocks()) / std::max<Index>(a.rows, 1);
  const double of_b = static_cast<double>(b.blocks()) / std::max<Index>(b.rows, 1);
  return of_a * of_b > many_candidates ? collect_rows<32>(ctx, a.rows, b.cols, columns)
                                       : collect_rows<8>(ctx, a.rows, b.cols, columns);
}

void product_values(const DeviceContext& ctx, const BlockCsr<Space::device>& a, const BlockCsr<Space::device>& b,
                    BlockCsr<Space::device>& c) {
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, c.pattern);
  compute(ctx, c.pattern.blocks(), ProductView{a, a.pattern, nullptr, b, c.pattern, row_of.data(), c.val.data()},
          c.block_size(), a.pattern.blocks());
}

void transposed_product_values(const DeviceContext& ctx, const BlockCsr<Space::device>& p,
                               const TransposedPattern<Space::device>& pt, const BlockCsr<Space::device>& b,
                               BlockCsr<Space::device>& c) {
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, c.pattern);
  compute(ctx, c.pattern.blocks(),
          ProductView{p, pt.pattern, pt.source.data(), b, c.pattern, row_of.data(), c.val.data()}, c.block_size(),
          p.pattern.blocks());
}

}  // namespace newel::detail
