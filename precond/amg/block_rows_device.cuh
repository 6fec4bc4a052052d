// SPDX-License-Identifier: Apache-2.0
/// Rows of a blocked matrix times a vector. Internal.
#pragma once

#include <purlin/precond/amg/block_rows.hpp>
#include <purlin/spmv/product_device.cuh>

namespace purlin::detail {

struct BlockRowsTuning {
  static constexpr int entries = 4;  ///< of each row that a lane has under way
};

/// The parts of rows first, first + 1, ... of one block row that this lane adds; x(j) is entry j of the vector, which
/// is read once for all of these rows. Loads do not wait for each other but for the column that says which x.
template <int together, class T, class X>
__device__ __forceinline__ void add_rows(const BlockRowsView<T>& b, Index first, int lane, X&& x,
                                         T (&sum)[together]) {
  constexpr int entries = BlockRowsTuning::entries;
  const Index block_row = b.m == 1 ? first : first / b.m;
  const Offset begin = load_cached(b.row_ptr + block_row);
  const auto length =
      static_cast<unsigned>(load_cached(b.row_ptr + block_row + 1) - begin) * static_cast<unsigned>(b.n);
  const T* const val = b.val + begin * (b.m * b.n) + Offset{first - block_row * b.m} * length;
  const Index* const col = b.col + begin;
  const auto lanes = static_cast<unsigned>(b.lanes);
  for (auto e = static_cast<unsigned>(lane); e < length; e += entries * lanes) {
    Index column[entries];
    T value[together][entries], at[entries];
#pragma unroll
    for (int u = 0; u < entries; ++u) {
      const unsigned k = e + static_cast<unsigned>(u) * lanes;
      const bool there = k < length;
      const unsigned block = b.n == 1 ? k : __umulhi(k, b.magic);
      const int c = static_cast<int>(k - block * static_cast<unsigned>(b.n));
      column[u] = there ? load_cached(col + block) * b.n + c : Index{-1};
#pragma unroll
      for (int r = 0; r < together; ++r) value[r][u] = there ? load_cached(val + Offset{r} * length + k) : T(0);
    }
#pragma unroll
    for (int u = 0; u < entries; ++u) at[u] = column[u] >= 0 ? x(column[u]) : T(0);
#pragma unroll
    for (int u = 0; u < entries; ++u) {
#pragma unroll
      for (int r = 0; r < together; ++r) sum[r] += value[r][u] * at[u];
    }
  }
}

template <int together, class T, class X, class Prepare, class Finish>
__device__ __forceinline__ void for_rows_together(const BlockRowsView<T>& b, Index thread, Index threads, X&& x,
                                                  Prepare&& prepare, Finish&& finish) {
  const Index groups = b.rows * (b.m / together), step = threads / b.lanes;
  const int lane = static_cast<int>(thread) & (b.lanes - 1);
  const Index first_of_warp = (thread & ~Index{31}) / b.lanes, own = thread / b.lanes;
  for (Index shift = 0; first_of_warp + shift < groups; shift += step) {
    const bool exists = own + shift < groups;
    const Index first = (own + shift) * together;
    const bool finishes = exists && lane < together;
    decltype(prepare(Index{0})) prepared{};
    if (finishes) prepared = prepare(first + lane);
    T sum[together] = {};
    if (exists) add_rows<together>(b, first, lane, x, sum);
    for (int apart = b.lanes / 2; apart > 0; apart /= 2) {
#pragma unroll
      for (int r = 0; r < together; ++r) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], apart);
    }
    T mine = sum[0];
#pragma unroll
    for (int r = 1; r < together; ++r) mine = lane == r ? sum[r] : mine;
    if (finishes) finish(first + lane, mine, prepared);
  }
}

/// Calls finish(i, sum, prepare(i)) for all rows: what the end needs of row i is read before the row. `threads`
/// threads in all, whole warps of them, of which this is number `thread`; as many neighbouring ones share rows as the
/// matrix says, and three rows of a node are added together.
template <class T, class X, class Prepare, class Finish>
__device__ __forceinline__ void for_rows(const BlockRowsView<T>& b, Index thread, Index threads, X&& x,
                                         Prepare&& prepare, Finish&& finish) {
  if (b.together == 3) {
    for_rows_together<3>(b, thread, threads, x, prepare, finish);
  } else {
    for_rows_together<1>(b, thread, threads, x, prepare, finish);
  }
}

/// For what needs nothing before the row.
struct NothingBefore {};
__device__ __forceinline__ auto nothing_before() {
  return [](Index) { return NothingBefore{}; };
}

}  // namespace purlin::detail
