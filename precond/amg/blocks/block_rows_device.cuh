// SPDX-License-Identifier: Apache-2.0
/// Rows of a blocked matrix times a vector. Internal.
#pragma once

#include "precond/amg/blocks/block_rows.hpp"
#include "spmv/product_device.cuh"

namespace newel::detail {

/// `together` rows of one block row, as one lane of those that share them sees them: the first entries of each row,
/// and where the others are. The matrix is read here and not the vector, so that it may be read before the vector is
/// there.
template <class T, int together>
struct LaneRows {
  static constexpr int entries = BlockRowsTuning::entries<T, together>;

  Index first;  ///< row; -1: none
  unsigned length = 0;
  const T* val = nullptr;
  const Index* col = nullptr;
  Index column[entries];  ///< of the vector; -1: none
  T value[together][entries];

  __device__ __forceinline__ LaneRows(const BlockRowsView<T>& b, Index group, int lane) : first(-1) {
    if (group < b.rows * (b.m / together)) {
      first = group * together;
      const Index block_row = b.m == 1 ? first : first / b.m;
      Offset begin, end;
      if (b.row_ptr32 != nullptr) {
        begin = load_cached(b.row_ptr32 + block_row);
        end = load_cached(b.row_ptr32 + block_row + 1);
      } else {
        begin = load_cached(b.row_ptr + block_row);
        end = load_cached(b.row_ptr + block_row + 1);
      }
      length = static_cast<unsigned>(end - begin) * static_cast<unsigned>(b.n);
      val = b.val + begin * (b.m * b.n) + Offset{first - block_row * b.m} * length;
      col = b.col + begin;
    }
    load(b, static_cast<unsigned>(lane));
  }

  /// The entries e, e + lanes, ...
  __device__ __forceinline__ void load(const BlockRowsView<T>& b, unsigned e) {
#pragma unroll
    for (int u = 0; u < entries; ++u) {
      const unsigned k = e + static_cast<unsigned>(u * b.lanes);
      const bool there = k < length;
      const unsigned block = b.n == 1 ? k : __umulhi(k, b.magic);
      const int c = static_cast<int>(k - block * static_cast<unsigned>(b.n));
      column[u] = there ? load_cached(col + block) * b.n + c : Index{-1};
#pragma unroll
      for (int r = 0; r < together; ++r) value[r][u] = there ? load_cached(val + Offset{r} * length + k) : T(0);
    }
  }

  /// Adds what is loaded times x, x(j) being entry j of the vector.
  template <class X>
  __device__ __forceinline__ void add(X&& x, T (&sum)[together]) const {
    T at[entries];
#pragma unroll
    for (int u = 0; u < entries; ++u) at[u] = column[u] >= 0 ? x(column[u]) : T(0);
#pragma unroll
    for (int u = 0; u < entries; ++u) {
#pragma unroll
      for (int r = 0; r < together; ++r) sum[r] += value[r][u] * at[u];
    }
  }
};

/// The sums of the rows, loaded at their first entries: finish(i, sum, prepare(i)) in one lane for each row; what the
/// end of a row needs is read before the vector is. All lanes of a warp come here.
template <int together, class T, class X, class Prepare, class Finish>
__device__ __forceinline__ void finish_rows(const BlockRowsView<T>& b, const LaneRows<T, together>& rows, int lane,
                                            X&& x, Prepare&& prepare, Finish&& finish) {
  const bool finishes = rows.first >= 0 && lane < together;
  decltype(prepare(Index{0})) prepared{};
  if (finishes) prepared = prepare(rows.first + lane);
  T sum[together] = {};
  rows.add(x, sum);
  const auto step = static_cast<unsigned>(b.lanes * LaneRows<T, together>::entries);
  if (static_cast<unsigned>(lane) + step < rows.length) {
    LaneRows<T, together> more = rows;
    for (unsigned e = static_cast<unsigned>(lane) + step; e < rows.length; e += step) {
      more.load(b, e);
      more.add(x, sum);
    }
  }
  for (int apart = b.lanes / 2; apart > 0; apart /= 2) {
#pragma unroll
    for (int r = 0; r < together; ++r) sum[r] += __shfl_xor_sync(0xffffffffu, sum[r], apart);
  }
  T mine = sum[0];
#pragma unroll
  for (int r = 1; r < together; ++r) mine = lane == r ? sum[r] : mine;
  if (finishes) finish(rows.first + lane, mine, prepared);
}

/// The place of a thread among those of a launch, whole warps of them.
struct LaunchPlace {
  Index thread, threads;
  __device__ LaunchPlace()
      : thread(static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x)),
        threads(static_cast<Index>(gridDim.x * blockDim.x)) {}
};

/// Calls finish(i, sum, prepare(i)) for all rows but those of a launch's first round, which `held` has; null: none
/// has.
template <int together, class T, class X, class Prepare, class Finish>
__device__ __forceinline__ void for_rows_together(const BlockRowsView<T>& b, const LaunchPlace& at,
                                                  const LaneRows<T, together>* held, X&& x, Prepare&& prepare,
                                                  Finish&& finish) {
  const Index groups = b.rows * (b.m / together), step = at.threads / b.lanes;
  const int lane = static_cast<int>(at.thread) & (b.lanes - 1);
  const Index first_of_warp = (at.thread & ~Index{31}) / b.lanes, own = at.thread / b.lanes;
  Index shift = 0;
  if (held != nullptr && first_of_warp < groups) {
    finish_rows<together>(b, *held, lane, x, prepare, finish);
    shift = step;
  }
  for (; first_of_warp + shift < groups; shift += step) {
    finish_rows<together>(b, LaneRows<T, together>(b, own + shift, lane), lane, x, prepare, finish);
  }
}

/// Calls finish(i, sum, prepare(i)) for all rows.
template <class T, class X, class Prepare, class Finish>
__device__ __forceinline__ void for_rows(const BlockRowsView<T>& b, const LaunchPlace& at, X&& x, Prepare&& prepare,
                                         Finish&& finish) {
  if (b.together == 3) {
    for_rows_together<3, T>(b, at, nullptr, x, prepare, finish);
  } else {
    for_rows_together<1, T>(b, at, nullptr, x, prepare, finish);
  }
}

/// The place of a thread among those of one column, to which a launch deals its blocks in turn.
struct ColumnPlace : LaunchPlace {
  int column;
  __device__ explicit ColumnPlace(int columns) : column(static_cast<int>(blockIdx.x) % columns) {
    thread = static_cast<Index>(blockIdx.x / columns * blockDim.x + threadIdx.x);
    threads = static_cast<Index>(gridDim.x / columns * blockDim.x);
  }
};

/// For rows whose end needs nothing.
struct NothingBefore {};
__device__ __forceinline__ auto nothing_before() {
  return [](Index) { return NothingBefore{}; };
}

}  // namespace newel::detail
