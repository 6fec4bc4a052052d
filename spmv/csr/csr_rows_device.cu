// SPDX-License-Identifier: Apache-2.0
// CSR on the device: a block leaves the products of a chunk's entries in shared memory, and adds them up row by row.
#include <type_traits>

#include "core/vectors/warp_device.cuh"
#include "spmv/csr/csr_rows.hpp"
#include "spmv/csr/csr_walk.hpp"
#include "spmv/residual_device.cuh"
#include "spmv/plan/slot_sum_device.cuh"

namespace newel::detail {
namespace {

using Tuning = CsrRowsTuning;

/// A chunk; behind the last one there are empty ones. P: the type of the row pointers, in which the borders fit.
template <class P>
struct CsrChunk {
  P begin = 0, end = 0;  ///< entries
  Index first_row = 0, end_row = 0;
  Index begin_piece = CsrBorder::between_rows, end_piece = CsrBorder::between_rows;

  /// Those that have an entry or their end in it.
  __device__ int rows() const { return end_row - first_row + (end_piece != CsrBorder::between_rows ? 1 : 0); }
  __device__ int entries() const { return static_cast<int>(end - begin); }
};

template <class P, class T>
__device__ __forceinline__ CsrChunk<P> chunk_at(const CsrRowsView<T>& view, Offset k) {
  if (k >= view.chunks) return {};
  const CsrBorder begin = view.border[k], end = view.border[k + 1];
  return {static_cast<P>(begin.entry), static_cast<P>(end.entry), begin.row, end.row, begin.piece, end.piece};
}

/// A thread's entries of a chunk: every (threads of a block)-th.
template <class T, int E>
struct CsrEntries {
  T val[E];
  Index col[E];  ///< -1 behind the last one
};

template <int E, class T, class P>
__device__ __forceinline__ CsrEntries<T, E> load_entries(const CsrRowsView<T>& view, const CsrChunk<P>& chunk) {
  const int entries = chunk.entries();
  const Index* const col = view.col + chunk.begin;
  const T* const val = view.val + chunk.begin;
  CsrEntries<T, E> mine;
#pragma unroll
  for (int u = 0; u < E; ++u) {
    const int k = static_cast<int>(threadIdx.x) + u * Tuning::threads;
    mine.col[u] = k < entries ? load_once(col + k) : -1;
    mine.val[u] = k < entries ? load_once(val + k) : T(0);
  }
  return mine;
}

/// Values become products with x.
template <class T, int E>
__device__ __forceinline__ void multiply(CsrEntries<T, E>& mine, const T* x) {
  T at[E];
#pragma unroll
  for (int u = 0; u < E; ++u) at[u] = mine.col[u] >= 0 ? load_cached(x + mine.col[u]) : T(0);
#pragma unroll
  for (int u = 0; u < E; ++u) mine.val[u] *= at[u];
}

/// The binary logarithm of the number of neighbouring lanes that share a row: as many as there are threads for.
template <class P>
__device__ __forceinline__ int share_of(const CsrChunk<P>& chunk) {
  const int share = __clz(chunk.rows() - 1) - __clz(Tuning::threads - 1);
  return share < 0 ? 0 : share > 5 ? 5 : share;
}

/// What the sum of a row needs, as it is loaded, long before it is looked at: row pointers, and y where `ahead`.
template <class T, class P, bool ahead>
struct CsrRange {
  P begin = 0, end = 0;
};
template <class T, class P>
struct CsrRange<T, P, true> {
  P begin = 0, end = 0;
  T y = 0;
};

template <bool ahead, class T, class P>
__device__ __forceinline__ CsrRange<T, P, ahead> range_of(const P* row_ptr, const ProductArgs<T>& args,
                                                          const CsrChunk<P>& chunk, int r) {
  CsrRange<T, P, ahead> range;
  if (r >= chunk.rows()) return range;
  const Offset row = Offset{chunk.first_row} + r;
  range.begin = load_cached(row_ptr + row);
  range.end = load_cached(row_ptr + row + 1);
  if constexpr (ahead) range.y = args.beta == T(0) ? T(0) : args.y[row];
  return range;
}

/// The sum of the products first, first + stride, ... before `last` of the chunk.
template <class T>
__device__ __forceinline__ T sum_of(const T* products, int first, int last, int stride) {
  T sum = 0;
#pragma unroll 4
  for (int k = first; k < last; k += stride) sum += products[k];
  return sum;
}

/// Writes y, or leaves the sum of a piece for the join. The row's part of x.y, if it is written.
template <bool ahead, class T, class P>
__device__ __forceinline__ double finish_row(const CsrRowsView<T>& view, const ProductArgs<T>& args,
                                             const CsrChunk<P>& chunk, int r, T sum,
                                             const CsrRange<T, P, ahead>& range) {
  if (chunk.end_piece != CsrBorder::between_rows && r == chunk.rows() - 1) {
    view.join.sums[chunk.end_piece] = sum;
    return 0;
  }
  if (chunk.begin_piece != CsrBorder::between_rows && r == 0) {
    view.join.sums[chunk.begin_piece + 1] = sum;
    return 0;
  }
  const Offset row = Offset{chunk.first_row} + r;
  T value;
  if constexpr (ahead)
    value = row_result_of(args, sum, range.y);
  else
    value = row_result(args, sum, row);
  args.y[row] = value;
  return args.xy != nullptr ? double(load_cached(args.x + row)) * double(value) : 0.0;
}

/// The sums of rows that are far longer than the others of their chunk, by their warp: `sum` of the lanes that ask.
template <class T>
__device__ __forceinline__ void sum_long_rows(const T* products, bool is_long, int first, int last, int lane,
                                              T& sum) {
  for (unsigned left = __ballot_sync(0xffffffffu, is_long); left != 0; left &= left - 1) {
    const int from = __ffs(static_cast<int>(left)) - 1;
    const int long_first = __shfl_sync(0xffffffffu, first, from), long_last = __shfl_sync(0xffffffffu, last, from);
    const T long_sum = warp_sum(sum_of(products, long_first + lane, long_last, warp));
    if (lane == from) sum = long_sum;
  }
}

/// The rows of a chunk by groups of lanes. `range` is that of the thread's first row. The thread's part of x.y.
template <bool ahead, class T, class P>
__device__ __forceinline__ double many_rows(const CsrRowsView<T>& view, const P* row_ptr, const ProductArgs<T>& args,
                                            const CsrChunk<P>& chunk, const T* products, CsrRange<T, P, ahead> next) {
  const int share = share_of(chunk), lanes = 1 << share, together = Tuning::threads >> share, rows = chunk.rows();
  const int lane = static_cast<int>(threadIdx.x) % warp, lane_of_row = lane & (lanes - 1);
  const int most = lanes * Tuning::lane_entries;
  double dot = 0;
  for (int first_row = (static_cast<int>(threadIdx.x) - lane) >> share; first_row < rows; first_row += together) {
    const int r = first_row + (lane >> share);
    const CsrRange<T, P, ahead> range = next;
    const int first = static_cast<int>(max(range.begin, chunk.begin) - chunk.begin);
    const int last = r < rows ? static_cast<int>(min(range.end, chunk.end) - chunk.begin) : first;
    if (first_row + together < rows) next = range_of<ahead>(row_ptr, args, chunk, r + together);
    const bool is_long = last - first > most;
    T sum = sum_of(products, first + lane_of_row, is_long ? first : last, lanes);
    for (int step = 1; step < lanes; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (view.longest > most) sum_long_rows(products, is_long && lane_of_row == 0, first, last, lane, sum);
    if (r < rows && lane_of_row == 0) dot += finish_row(view, args, chunk, r, sum, range);
  }
  return dot;
}

/// A block takes every (grid size)-th chunk. Its threads load values and columns in the order of the entries,
/// multiply with x, and leave the products in shared memory; while groups of neighbouring lanes add up the rows from
/// there, the entries of the next chunk are on their way to registers, and so are the borders of the one after. As
/// many lanes share a row as there are threads for the rows of the chunk; the first one writes y. The only row of a
/// chunk is summed by the whole block. The chunks are those of Merrill and Garland's merge path (SC 2016), moved to
/// the rows' beginnings as in CSR-Stream (J. L. Greathouse and M. Daga, SC 2014), whose order of work this is.
template <int E, class T, class P>
__global__ void __launch_bounds__(Tuning::threads, CsrChunkTuning<T, E>::blocks)
    csr_rows(const CsrRowsView<T> view, const P* row_ptr, const ProductArgs<T> args, unsigned* tickets) {
  constexpr bool ahead = CsrChunkTuning<T, E>::loads_y_ahead;
  __shared__ T products[CsrChunkTuning<T, E>::entries];
  const int thread = static_cast<int>(threadIdx.x);
  const Offset stride = gridDim.x;
  const auto first_range = [&](const CsrChunk<P>& at) {
    return range_of<ahead>(row_ptr, args, at, thread >> share_of(at));
  };
  CsrChunk<P> chunk = chunk_at<P>(view, blockIdx.x), next = chunk_at<P>(view, blockIdx.x + stride);
  CsrEntries<T, E> mine = load_entries<E>(view, chunk);
  CsrRange<T, P, ahead> range = first_range(chunk);
  double dot = 0;
  for (Offset k = blockIdx.x; k < view.chunks; k += stride) {
    multiply(mine, args.x);
    const bool one_row = chunk.rows() == 1;
    if (one_row) {
      T sum = 0;
#pragma unroll
      for (int u = 0; u < E; ++u) sum += mine.val[u];
      sum = warp_sum(sum);
      if (thread % warp == 0) products[thread / warp] = sum;
    } else {
#pragma unroll
      for (int u = 0; u < E; ++u) products[thread + u * Tuning::threads] = mine.val[u];
    }
    mine = load_entries<E>(view, next);
    const CsrRange<T, P, ahead> next_range = first_range(next);
    const CsrChunk<P> second = chunk_at<P>(view, k + 2 * stride);
    __syncthreads();
    if (!one_row) {
      dot += many_rows(view, row_ptr, args, chunk, products, range);
    } else if (thread == 0) {
      T sum = products[0];
      for (int w = 1; w < Tuning::threads / warp; ++w) sum += products[w];
      dot += finish_row(view, args, chunk, 0, sum, range);
    }
    __syncthreads();
    chunk = next;
    next = second;
    range = next_range;
  }
  if (args.xy == nullptr) return;
  if (view.join.rows > 0)
    leave_dot(dot, view.dot_partial);
  else
    finish_dot(dot, view.dot_partial, tickets, args.xy);
}

}  // namespace

template <class T, class P>
void csr_rows_product(const Context<Space::device>& ctx, const CsrRowsView<T>& view, const P* row_ptr,
                      const ProductArgs<T>& args) {
  const auto& state = ctx.state();
  const auto launch = [&](auto entries) {
    csr_rows<decltype(entries)::value>
        <<<view.blocks, Tuning::threads, 0, state.stream()>>>(view, row_ptr, args, state.tickets());
  };
  if constexpr (sizeof(T) == 4) {
    if (view.thread_entries == many_entries) launch(std::integral_constant<int, many_entries>());
  }
  if (view.thread_entries == few_entries) launch(std::integral_constant<int, few_entries>());
  NEWEL_CHECK_LAUNCH();
  launch_join(ctx, view.join, args, view.blocks, view.dot_partial);
}

template <class T>
ResidualSums csr_residual(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                          const ResidualArgs<T>& args) {
  return with_walk(a, [&](const auto& walk) { return residual_by(ctx, walk, args); });
}
template ResidualSums csr_residual(const Context<Space::device>&, const CsrView<double, Space::device>&,
                                   const ResidualArgs<double>&);
template ResidualSums csr_residual(const Context<Space::device>&, const CsrView<float, Space::device>&,
                                   const ResidualArgs<float>&);

#define NEWEL_CSR_ROWS(T, P)                                                                     \
  template void csr_rows_product(const Context<Space::device>&, const CsrRowsView<T>&, const P*, \
                                 const ProductArgs<T>&);
NEWEL_CSR_ROWS(double, std::int32_t)
NEWEL_CSR_ROWS(double, Offset)
NEWEL_CSR_ROWS(float, std::int32_t)
NEWEL_CSR_ROWS(float, Offset)
#undef NEWEL_CSR_ROWS

}  // namespace newel::detail
