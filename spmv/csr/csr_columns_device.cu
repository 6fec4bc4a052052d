// SPDX-License-Identifier: Apache-2.0
// CSR on the device with k vectors at once: neighbouring lanes take the entries of a row in turn, each with k sums.
#include <algorithm>

#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"
#include "core/vectors/warp_device.cuh"
#include "spmv/column_product_device.cuh"
#include "spmv/csr/csr_columns.hpp"

namespace newel::detail {
namespace {

struct CsrColumnsTuning {
  static constexpr int threads = 256;
  static constexpr int blocks_of_multiprocessor = 8;
  static constexpr Offset entries_of_lane = 4;   ///< of a mean row, at most
  static constexpr Index longest_of_lane = 128;  ///< entries from which a row has a block
};

template <class T>
__device__ __forceinline__ Offset row_begin(const CsrView<T, Space::device>& a, Offset row) {
  return a.row_ptr32.data != nullptr ? Offset{load_cached(a.row_ptr32.data + row)}
                                     : load_cached(a.row_ptr64.data + row);
}

/// Adds entries first, first + stride, ... to k sums.
template <class T, int k>
__device__ __forceinline__ void add_entries(const CsrView<T, Space::device>& a, const T* x, Offset first, Offset end,
                                            int stride, T (&sum)[k]) {
#pragma unroll 4
  for (Offset at = first; at < end; at += stride) {
    const T v = load_once(a.val.data + at);
    const ColumnValues<T, k> from = load_values<T, k>(x + Offset{load_once(a.col.data + at)} * k);
#pragma unroll
    for (int c = 0; c < k; ++c) sum[c] += v * from.value[c];
  }
}

/// A warp takes warp / lanes rows at a time, and leaves the long ones.
template <class T, int k, bool with_dot>
__global__ void __launch_bounds__(CsrColumnsTuning::threads)
    csr_column_rows(const CsrColumnsView<T> view, const ColumnProductArgs<T> args, double* partial,
                    unsigned* tickets) {
  const CsrView<T, Space::device>& a = view.a;
  const int lane = threadIdx.x % view.lanes;
  const Offset rows_of_warp = warp / view.lanes;
  const Offset stride = Offset{gridDim.x} * (blockDim.x / warp) * rows_of_warp;
  double dot[k] = {};
  for (Offset first = (Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp * rows_of_warp; first < a.rows;
       first += stride) {
    const Offset row = first + threadIdx.x % warp / view.lanes;
    const Offset begin = row < a.rows ? row_begin(a, row) : 0, end = row < a.rows ? row_begin(a, row + 1) : 0;
    const bool is_long = end - begin > view.most;
    T sum[k] = {};
    add_entries(a, args.x, begin + lane, is_long ? begin : end, view.lanes, sum);
    for (int step = 1; step < view.lanes; step *= 2) {
#pragma unroll
      for (int c = 0; c < k; ++c) sum[c] += __shfl_xor_sync(0xffffffffu, sum[c], step);
    }
    if (lane != 0 || is_long || row >= a.rows) continue;
    write_row<T, k>(args, row, sum);
    if constexpr (with_dot) {
      const ColumnValues<T, k> x = load_values<T, k>(args.x + row * k);
#pragma unroll
      for (int c = 0; c < k; ++c) dot[c] += double(x.value[c]) * double(sum[c]);
    }
  }
  if constexpr (with_dot) finish_dots<k>(dot, partial, tickets, args.xy);
}

/// A block takes a long row.
template <class T, int k>
__global__ void __launch_bounds__(CsrColumnsTuning::threads)
    csr_column_long_rows(const CsrColumnsView<T> view, const ColumnProductArgs<T> args) {
  __shared__ double scratch[33 * k];
  const Offset row = view.long_row[blockIdx.x];
  T sum[k] = {};
  add_entries(view.a, args.x, row_begin(view.a, row) + threadIdx.x, row_begin(view.a, row + 1),
              static_cast<int>(blockDim.x), sum);
  double mine[k];
#pragma unroll
  for (int c = 0; c < k; ++c) mine[c] = sum[c];
  const double* const totals = block_sums(mine, scratch);
  if (threadIdx.x >= k) return;
  const Offset at = row * k + threadIdx.x;
  args.y[at] = row_result(args, static_cast<T>(totals[threadIdx.x]), at);
}

template <class T>
__global__ void __launch_bounds__(CsrColumnsTuning::threads)
    list_long_rows(const CsrView<T, Space::device> a, Index most, Index* rows, Index* count) {
  const Offset row = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row < a.rows && row_begin(a, row + 1) - row_begin(a, row) > most) {
    rows[atomicAdd(count, 1)] = static_cast<Index>(row);
  }
}

unsigned blocks_for(Offset threads) {
  return static_cast<unsigned>((threads + CsrColumnsTuning::threads - 1) / CsrColumnsTuning::threads);
}

template <class T, int k>
void product(const Context<Space::device>& ctx, const CsrColumnsView<T>& a, const ColumnProductArgs<T>& args) {
  constexpr int threads = CsrColumnsTuning::threads;
  const auto& state = ctx.state();
  auto* const partial = reinterpret_cast<double*>(args.work);
  const auto blocks = static_cast<unsigned>(a.blocks);
  if (args.xy != nullptr) {
    csr_column_rows<T, k, true><<<blocks, threads, 0, state.stream()>>>(a, args, partial, state.tickets());
  } else {
    csr_column_rows<T, k, false><<<blocks, threads, 0, state.stream()>>>(a, args, partial, state.tickets());
  }
  NEWEL_CHECK_LAUNCH();
  if (a.long_rows == 0) return;
  csr_column_long_rows<T, k><<<static_cast<unsigned>(a.long_rows), threads, 0, state.stream()>>>(a, args);
  NEWEL_CHECK_LAUNCH();
}

}  // namespace

template <class T>
CsrColumnsView<T> csr_columns_view(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a) {
  using Tuning = CsrColumnsTuning;
  const Offset mean = a.nnz() / std::max<Index>(1, a.rows);
  CsrColumnsView<T> view{a, 2, 0, 0, nullptr, 0};
  while (view.lanes < warp && mean > Tuning::entries_of_lane * view.lanes) view.lanes *= 2;
  view.most = Tuning::longest_of_lane * view.lanes;
  view.blocks = static_cast<Index>(std::min<Offset>(blocks_for(Offset{a.rows} * view.lanes),
                                                    ctx.multiprocessors() * Tuning::blocks_of_multiprocessor));
  return view;
}

template <class T>
Array<Index, Space::device> long_rows_of(const Context<Space::device>& ctx, const CsrView<T, Space::device>& a,
                                         Index most) {
  if (a.nnz() <= most) return {};
  Array<Index, Space::device> rows(ctx, a.nnz() / most + 1), count(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(count.data(), 0, sizeof(Index), ctx.state().stream()));
  list_long_rows<<<blocks_for(a.rows), CsrColumnsTuning::threads, 0, ctx.state().stream()>>>(a, most, rows.data(),
                                                                                             count.data());
  NEWEL_CHECK_LAUNCH();
  std::vector<Index> found = to_vector(ctx, rows.cspan().subspan(0, to_vector(ctx, count.cspan())[0]));
  std::sort(found.begin(), found.end());
  return make_array(ctx, found);
}

template <class T>
void csr_columns_product(const Context<Space::device>& ctx, const CsrColumnsView<T>& a, int columns,
                         const ColumnProductArgs<T>& args) {
  if (columns == 8) return product<T, 8>(ctx, a, args);
  if (columns == 4) return product<T, 4>(ctx, a, args);
  product<T, 2>(ctx, a, args);
}

#define NEWEL_CSR_COLUMNS(T)                                                                                         \
  template CsrColumnsView<T> csr_columns_view(const Context<Space::device>&, const CsrView<T, Space::device>&);      \
  template Array<Index, Space::device> long_rows_of(const Context<Space::device>&, const CsrView<T, Space::device>&, \
                                                    Index);                                                          \
  template void csr_columns_product(const Context<Space::device>&, const CsrColumnsView<T>&, int,                    \
                                    const ColumnProductArgs<T>&);
NEWEL_CSR_COLUMNS(double)
NEWEL_CSR_COLUMNS(float)
#undef NEWEL_CSR_COLUMNS

}  // namespace newel::detail
