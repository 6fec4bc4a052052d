// SPDX-License-Identifier: Apache-2.0
// Sparse matrix products on the device. A value of a product is the sum of one thread, which looks in the rows of the
// second matrix for its column: nothing is added atomically, and sums have a fixed order.
#include <purlin/precond/amg/galerkin.hpp>
#include <purlin/precond/amg/pattern_rows_device.cuh>

namespace purlin::detail {
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

// A thread has one value of C = A B.
struct ProductValue {
  BlockView a, b;
  PatternView c;
  const Index* row_of;
  double* val;

  __device__ void operator()(std::int64_t t) const {
    const int size = a.m * b.n;
    const Offset k = t / size;
    const auto e = static_cast<int>(t - k * size);
    const int r = e / b.n, column = e % b.n;
    const Index i = row_of[k], j = c.col[k];
    double sum = 0;
    for (Offset l = a.pattern.begin(i); l < a.pattern.end(i); ++l) {
      const Offset at = b.pattern.find(a.pattern.col[l], j);
      if (at < 0) continue;
      const double* const left = a.block(l) + r * a.n;
      const double* const right = b.block(at) + column;
      for (int q = 0; q < a.n; ++q) sum += left[q] * right[q * b.n];
    }
    val[t] = sum;
  }
};

// A thread has one value of C = P^T B.
struct TransposedProductValue {
  BlockView p;
  PatternView pt;
  const Offset* source;
  BlockView b;
  PatternView c;
  const Index* row_of;
  double* val;

  __device__ void operator()(std::int64_t t) const {
    const int size = p.n * b.n;
    const Offset k = t / size;
    const auto e = static_cast<int>(t - k * size);
    const int r = e / b.n, column = e % b.n;
    const Index i = row_of[k], j = c.col[k];
    double sum = 0;
    for (Offset l = pt.begin(i); l < pt.end(i); ++l) {
      const Offset at = b.pattern.find(pt.col[l], j);
      if (at < 0) continue;
      const double* const left = p.block(source[l]) + r;
      const double* const right = b.block(at) + column;
      for (int q = 0; q < p.m; ++q) sum += left[q * p.n] * right[q * b.n];
    }
    val[t] = sum;
  }
};

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
  for_elements(ctx, c.val.size(), ProductValue{a, b, c.pattern, row_of.data(), c.val.data()});
}

void transposed_product_values(const DeviceContext& ctx, const BlockCsr<Space::device>& p,
                               const TransposedPattern<Space::device>& pt, const BlockCsr<Space::device>& b,
                               BlockCsr<Space::device>& c) {
  const DeviceArray<Index> row_of = rows_of_blocks(ctx, c.pattern);
  for_elements(ctx, c.val.size(),
               TransposedProductValue{p, pt.pattern, pt.source.data(), b, c.pattern, row_of.data(), c.val.data()});
}

}  // namespace purlin::detail
