// SPDX-License-Identifier: Apache-2.0
/// Loops of the setup on a device: a function of each element, and views of blocked matrices. Internal.
#pragma once

#include "core/memory/context_device.hpp"
#include "core/csr/sorted_row.hpp"
#include "precond/amg/blocks/block_csr.hpp"

namespace newel::detail {

template <class T>
using DeviceArray = Array<T, Space::device>;

struct ElementsTuning {
  static constexpr int threads = 256;
  static constexpr int blocks_per_multiprocessor = 32;
};

/// A thread has every (grid size)-th element.
template <class F>
__global__ void __launch_bounds__(ElementsTuning::threads) elements_kernel(std::int64_t n, const F f) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

inline unsigned blocks_for(const DeviceContext& ctx, std::int64_t n, int threads = ElementsTuning::threads) {
  return blocks_to_share(ctx, n, threads, ElementsTuning::blocks_per_multiprocessor);
}

/// f(i) for i = 0 .. n - 1, in any order, f being a struct of plain values with operator(). Queued on the stream.
template <class F>
void for_elements(const DeviceContext& ctx, std::int64_t n, const F& f) {
  if (n == 0) return;
  elements_kernel<<<blocks_for(ctx, n), ElementsTuning::threads, 0, ctx.state().stream()>>>(n, f);
  NEWEL_CHECK_LAUNCH();
}

/// Lanes that share a row in `for_rows_by_lanes`: neighbours in a warp.
struct RowLanes {
  static constexpr int count = 8;
  Index row;
  int lane;

  /// Over the lanes of a row, all of which come here: the sum in all of them, in a fixed order; the largest; which of
  /// them have `flag`, and how many of those come before this one.
  template <class T>
  __device__ T sum(T value) const {
#pragma unroll
    for (int apart = count / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(mask(), value, apart);
    return value;
  }
  template <class T>
  __device__ T most(T value) const {
#pragma unroll
    for (int apart = count / 2; apart > 0; apart /= 2) {
      const T other = __shfl_xor_sync(mask(), value, apart);
      value = value < other ? other : value;
    }
    return value;
  }
  __device__ unsigned which(bool flag) const { return (__ballot_sync(mask(), flag) & mask()) >> shift(); }
  /// What the lanes of the row have written is seen by all of them.
  __device__ void sync() const { __syncwarp(mask()); }
  __device__ int before(unsigned which) const { return __popc(which & ((1u << lane) - 1)); }

 private:
  __device__ static int shift() { return static_cast<int>(threadIdx.x) % 32 / count * count; }
  __device__ static unsigned mask() { return ((1u << count) - 1) << shift(); }
};

template <class F>
struct EachRow {
  F f;
  __device__ void operator()(std::int64_t thread) const {
    f(RowLanes{static_cast<Index>(thread / RowLanes::count), static_cast<int>(thread % RowLanes::count)});
  }
};

/// f(lanes) for the lanes of each row, in any order of the rows. Queued on the stream.
template <class F>
void for_rows_by_lanes(const DeviceContext& ctx, Index rows, const F& f) {
  for_elements(ctx, std::int64_t{rows} * RowLanes::count, EachRow<F>{f});
}

template <class T>
DeviceArray<T> zeros(const DeviceContext& ctx, std::int64_t n) {
  DeviceArray<T> values(ctx, n);
  if (n > 0) NEWEL_CHECK_CUDA(cudaMemsetAsync(values.data(), 0, values.bytes(), ctx.state().stream()));
  return values;
}

/// Value i of an array; waits for the stream.
template <class T>
T value_at(const DeviceContext& ctx, const DeviceArray<T>& values, std::int64_t i) {
  return to_vector(ctx, values.cspan().subspan(i, 1))[0];
}

/// A pattern with row pointers of either width.
struct EntriesView {
  Index rows;
  const std::int32_t* narrow;
  const Offset* wide;
  const Index* col;

  explicit EntriesView(const Pattern<Space::device>& a)
      : rows(a.rows), narrow(a.row_ptr32.data), wide(a.row_ptr64.data), col(a.col.data) {}
  __device__ Offset begin(Index i) const { return wide != nullptr ? wide[i] : Offset{narrow[i]}; }
  __device__ Offset end(Index i) const { return begin(i + 1); }
};

struct PatternView {
  Index rows, cols;
  const Offset* __restrict__ row_ptr;
  const Index* __restrict__ col;

  PatternView(const BlockPattern<Space::device>& p)
      : rows(p.rows), cols(p.cols), row_ptr(p.row_ptr.data()), col(p.col.data()) {}
  __device__ Offset begin(Index i) const { return row_ptr[i]; }
  __device__ Offset end(Index i) const { return row_ptr[i + 1]; }
  /// Where row i has column j; -1 where it has not.
  __device__ Offset find(Index i, Index j) const { return find_column(col, row_ptr[i], row_ptr[i + 1], j); }
};

struct BlockView {
  PatternView pattern;
  int m, n;  ///< rows and columns of a block
  const double* __restrict__ val;

  BlockView(const BlockCsr<Space::device>& a)
      : pattern(a.pattern), m(a.row_block), n(a.col_block), val(a.val.data()) {}
  __device__ const double* block(Offset k) const { return val + k * (m * n); }
  __device__ double squared_norm(Offset k) const {
    double sum = 0;
    for (int e = 0; e < m * n; ++e) sum += block(k)[e] * block(k)[e];
    return sum;
  }
};

/// Value t of blocks of `size` values; block k is block source[k] of `from`.
struct TakenBlocks {
  const double* from;
  const Offset* source;
  int size;
  double* to;

  __device__ void operator()(std::int64_t t) const { to[t] = from[source[t / size] * size + t % size]; }
};

/// The values on the diagonal, row by row; 0 where a row has none.
struct DiagonalView {
  BlockView a;
  const Offset* place;  ///< as diagonal_places has them

  __device__ double operator[](std::int64_t i) const {
    const Offset at = place[i / a.m];
    return at < 0 ? 0.0 : a.block(at)[i % a.m * (a.m + 1)];
  }
};

/// The row of each block.
DeviceArray<Index> rows_of_blocks(const DeviceContext& ctx, const BlockPattern<Space::device>& p);

/// Elements sorted by their keys, which are below `keys`, and in ascending order for each.
struct Groups {
  DeviceArray<Offset> begin;    ///< keys + 1
  DeviceArray<Offset> element;  ///< those of key j from begin[j] on
};
/// Elements with a negative key are left out. Waits for nothing.
Groups group_by_key(const DeviceContext& ctx, const DeviceArray<Index>& key, Index keys);

/// The place of each row's diagonal block, -1 where there is none.
DeviceArray<Offset> diagonal_places(const DeviceContext& ctx, const BlockPattern<Space::device>& a);

}  // namespace newel::detail
