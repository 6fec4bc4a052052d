// SPDX-License-Identifier: Apache-2.0
// CSR on the device: a block reads a chunk of entries into shared memory, and takes it row by row from there.
#include <purlin/spmv/csr/csr_rows.hpp>

#include <purlin/spmv/slot_sum_device.cuh>
#include <purlin/spmv/stream_copy_device.cuh>

namespace purlin::detail {
namespace {

using Tuning = CsrRowsTuning;

constexpr int warp = 32;

/// Entries as a block keeps them, from a multiple of four on.
template <class T>
struct alignas(16) CsrStage {
  T val[Tuning::entries + 4];
  Index col[Tuning::entries + 4];
};

/// A chunk; behind the last one there are empty ones.
struct CsrChunk {
  CsrBorder begin{0, 0, CsrBorder::between_rows}, end{0, 0, CsrBorder::between_rows};

  /// Those that have an entry or their end in it.
  __device__ int rows() const { return end.row - begin.row + (end.piece != CsrBorder::between_rows ? 1 : 0); }
  /// The entry at place 0 of the stage.
  __device__ Offset base() const { return begin.entry & ~Offset{3}; }
};

template <class T>
__device__ __forceinline__ CsrChunk chunk_at(const CsrRowsView<T>& view, Offset k) {
  CsrChunk chunk;
  if (k < view.chunks) {
    chunk.begin = view.border[k];
    chunk.end = view.border[k + 1];
  }
  return chunk;
}

template <class T>
__device__ __forceinline__ void start_copy(const CsrRowsView<T>& view, const CsrChunk& chunk, CsrStage<T>& stage,
                                           std::uint64_t policy) {
  constexpr int values = 16 / sizeof(T), columns = 16 / sizeof(Index);
  const int thread = static_cast<int>(threadIdx.x);
  const Offset base = chunk.base();
  const int fours = static_cast<int>(chunk.end.entry - base + 3) / 4;
  for (int k = thread; k < fours * (4 / values); k += Tuning::threads) {
    copy_once_async(stage.val + k * values, view.val + base + k * values, policy);
  }
  for (int k = thread; k < fours; k += Tuning::threads) {
    copy_once_async(stage.col + k * columns, view.col + base + k * columns, policy);
  }
  __pipeline_commit();
}

/// The binary logarithm of the number of neighbouring lanes that share a row: as many as there are threads for.
__device__ __forceinline__ int share_of(const CsrChunk& chunk) {
  const int share = __clz(chunk.rows() - 1) - __clz(Tuning::threads - 1);
  return share < 0 ? 0 : share > 5 ? 5 : share;
}

/// Row pointers as they are loaded, long before they are looked at.
template <class P>
struct CsrRange {
  P begin, end;
};

template <class P>
__device__ __forceinline__ CsrRange<P> range_of(const P* row_ptr, const CsrChunk& chunk, int r) {
  if (r >= chunk.rows()) return {0, 0};
  return {load_cached(row_ptr + chunk.begin.row + r), load_cached(row_ptr + chunk.begin.row + r + 1)};
}

/// The sum over places first, first + stride, ... before `last` of the stage. A lane waits once for the columns of a
/// batch, and once for their x.
template <class T>
__device__ __forceinline__ T staged_sum(const CsrStage<T>& stage, const T* x, int first, int last, int stride) {
  constexpr int batch = Tuning::batch;
  T sum = 0;
  for (int k = first; k < last; k += batch * stride) {
    Index column[batch];
    T at[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (k + u * stride < last) column[u] = stage.col[k + u * stride];
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (k + u * stride < last) at[u] = load_cached(x + column[u]);
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (k + u * stride < last) sum += stage.val[k + u * stride] * at[u];
    }
  }
  return sum;
}

/// Writes y, or leaves the sum of a piece for the join. The row's part of x.y, if it is written.
template <class T>
__device__ __forceinline__ double finish_row(const CsrRowsView<T>& view, const ProductArgs<T>& args,
                                             const CsrChunk& chunk, int r, T sum) {
  if (r == chunk.rows() - 1 && chunk.end.piece != CsrBorder::between_rows) {
    view.join.sums[chunk.end.piece] = sum;
    return 0;
  }
  if (r == 0 && chunk.begin.piece != CsrBorder::between_rows) {
    view.join.sums[chunk.begin.piece + 1] = sum;
    return 0;
  }
  const Offset row = Offset{chunk.begin.row} + r;
  const T value = row_result(args, sum, row);
  args.y[row] = value;
  return args.xy != nullptr ? double(load_cached(args.x + row)) * double(value) : 0.0;
}

/// The rows of a chunk by groups of lanes, rows that are far longer than the others by their warp. `range` is that of
/// the thread's first row. The thread's part of x.y.
template <class T, class P>
__device__ __forceinline__ double many_rows(const CsrRowsView<T>& view, const P* row_ptr, const ProductArgs<T>& args,
                                            const CsrChunk& chunk, const CsrStage<T>& stage, CsrRange<P> range) {
  const int share = share_of(chunk), lanes = 1 << share, together = Tuning::threads >> share, rows = chunk.rows();
  const int lane = static_cast<int>(threadIdx.x) % warp, lane_of_row = lane & (lanes - 1);
  const Offset base = chunk.base();
  double dot = 0;
  for (int first_row = (static_cast<int>(threadIdx.x) - lane) >> share; first_row < rows; first_row += together) {
    const int r = first_row + (lane >> share);
    const Offset begin = range.begin, end = range.end;
    const int first = static_cast<int>((begin > chunk.begin.entry ? begin : chunk.begin.entry) - base);
    const int last = r < rows ? static_cast<int>((end < chunk.end.entry ? end : chunk.end.entry) - base) : first;
    if (first_row + together < rows) range = range_of(row_ptr, chunk, r + together);
    const bool is_long = last - first > lanes * Tuning::lane_entries;
    T sum = staged_sum(stage, args.x, first + lane_of_row, is_long ? first : last, lanes);
    for (int step = 1; step < lanes; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    for (unsigned left = __ballot_sync(0xffffffffu, is_long && lane_of_row == 0); left != 0; left &= left - 1) {
      const int from = __ffs(static_cast<int>(left)) - 1;
      const int long_first = __shfl_sync(0xffffffffu, first, from), long_last = __shfl_sync(0xffffffffu, last, from);
      const T long_sum = warp_sum(staged_sum(stage, args.x, long_first + lane, long_last, warp));
      if (lane == from) sum = long_sum;
    }
    if (r < rows && lane_of_row == 0) dot += finish_row(view, args, chunk, r, sum);
  }
  return dot;
}

/// The only row of a chunk by the whole block.
template <class T>
__device__ __forceinline__ double one_row(const CsrRowsView<T>& view, const ProductArgs<T>& args,
                                          const CsrChunk& chunk, const CsrStage<T>& stage, T* scratch) {
  const int thread = static_cast<int>(threadIdx.x), offset = static_cast<int>(chunk.begin.entry - chunk.base());
  const int entries = static_cast<int>(chunk.end.entry - chunk.begin.entry);
  T sum = warp_sum(staged_sum(stage, args.x, offset + thread, offset + entries, Tuning::threads));
  if (thread % warp == 0) scratch[thread / warp] = sum;
  __syncthreads();
  if (thread != 0) return 0;
  for (int w = 1; w < Tuning::threads / warp; ++w) sum += scratch[w];
  return finish_row(view, args, chunk, 0, sum);
}

/// A block takes every (grid size)-th chunk. While it has one at work in shared memory, the entries of its next one
/// are copied there, the row pointers of that are on their way to registers, and so are the borders of the one after.
/// Values and columns are read in order, and x as the threads of many rows need it at the same time, which for
/// neighbouring rows is often the same; products that are formed in the order of the entries and kept for the sums
/// would read x along the rows. As many lanes share a row as a chunk of such rows leaves idle; its first lane writes
/// y. One or two barriers a chunk and one more for the stage. The chunks are those of Merrill and Garland's merge
/// path (SC 2016), moved to the rows' beginnings as in CSR-Stream (J. L. Greathouse and M. Daga, SC 2014).
template <class T, class P>
__global__ void __launch_bounds__(Tuning::threads, csr_rows_blocks<T>)
    csr_rows(const CsrRowsView<T> view, const P* row_ptr, const ProductArgs<T> args, unsigned* tickets) {
  using Stage = CsrStage<T>;
  __shared__ Stage stages[2];
  __shared__ T scratch[Tuning::threads / warp];
  const std::uint64_t policy = leaves_cache_first();
  const Offset stride = gridDim.x;
  const auto first_range = [&](const CsrChunk& chunk) {
    return range_of(row_ptr, chunk, static_cast<int>(threadIdx.x) >> share_of(chunk));
  };
  CsrChunk chunk = chunk_at(view, blockIdx.x), next = chunk_at(view, blockIdx.x + stride);
  start_copy(view, chunk, stages[0], policy);
  CsrRange<P> range = first_range(chunk);
  double dot = 0;
  int turn = 0;
  for (Offset k = blockIdx.x; k < view.chunks; k += stride) {
    start_copy(view, next, stages[turn ^ 1], policy);
    const CsrRange<P> next_range = first_range(next);
    const CsrChunk second = chunk_at(view, k + 2 * stride);
    __pipeline_wait_prior(1);
    __syncthreads();
    if (chunk.rows() == 1)
      dot += one_row(view, args, chunk, stages[turn], scratch);
    else
      dot += many_rows(view, row_ptr, args, chunk, stages[turn], range);
    __syncthreads();
    turn ^= 1;
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
  csr_rows<<<view.blocks, Tuning::threads, 0, state.stream()>>>(view, row_ptr, args, state.tickets());
  PURLIN_CHECK_LAUNCH();
  launch_join(ctx, view.join, args, view.blocks, view.dot_partial);
}

#define PURLIN_CSR_ROWS(T, P)                                                                    \
  template void csr_rows_product(const Context<Space::device>&, const CsrRowsView<T>&, const P*, \
                                 const ProductArgs<T>&);
PURLIN_CSR_ROWS(double, std::int32_t)
PURLIN_CSR_ROWS(double, Offset)
PURLIN_CSR_ROWS(float, std::int32_t)
PURLIN_CSR_ROWS(float, Offset)
#undef PURLIN_CSR_ROWS

}  // namespace purlin::detail
