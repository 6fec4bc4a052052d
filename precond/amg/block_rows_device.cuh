// SPDX-License-Identifier: Apache-2.0
/// A row of a blocked matrix times a vector. Internal.
#pragma once

#include <purlin/precond/amg/block_rows.hpp>
#include <purlin/spmv/product_device.cuh>

namespace purlin::detail {

/// The part of row i that this lane adds; x(j) is entry j of the vector.
template <class T, class X>
__device__ __forceinline__ T part_of_row(const BlockRowsView<T>& b, Offset i, int lane, X&& x) {
  const Offset row = b.m == 1 ? i : i / b.m;
  const Offset begin = load_cached(b.row_ptr + row);
  const auto length = static_cast<unsigned>(load_cached(b.row_ptr + row + 1) - begin) * static_cast<unsigned>(b.n);
  const T* const val = b.val + begin * b.m * b.n + (i - row * b.m) * length;
  const Index* const col = b.col + begin;
  T sum = 0;
  if (b.n == 1) {
#pragma unroll 4
    for (auto e = static_cast<unsigned>(lane); e < length; e += static_cast<unsigned>(b.lanes)) {
      sum += load_cached(val + e) * x(load_cached(col + e));
    }
  } else {
#pragma unroll 4
    for (auto e = static_cast<unsigned>(lane); e < length; e += static_cast<unsigned>(b.lanes)) {
      const unsigned block = __umulhi(e, b.magic);
      const int c = static_cast<int>(e) - static_cast<int>(block) * b.n;
      sum += load_cached(val + e) * x(load_cached(col + block) * b.n + c);
    }
  }
  return sum;
}

/// Calls finish(i, sum) for all rows, in the first of the lanes that share the row: `threads` threads in all, of
/// which this is number `thread`; all lanes of a warp come here.
template <class T, class X, class Finish>
__device__ __forceinline__ void for_rows(const BlockRowsView<T>& b, Offset thread, Offset threads, X&& x,
                                         Finish&& finish) {
  const Offset rows = Offset{b.rows} * b.m, step = threads / b.lanes;
  const int lane = static_cast<int>(thread) & (b.lanes - 1);
  const Offset first_of_warp = (thread & ~Offset{31}) / b.lanes;
  for (Offset shift = 0; first_of_warp + shift < rows; shift += step) {
    const Offset i = thread / b.lanes + shift;
    T sum = i < rows ? part_of_row(b, i, lane, x) : T(0);
    for (int apart = b.lanes / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (i < rows && lane == 0) finish(i, sum);
  }
}

}  // namespace purlin::detail
