// SPDX-License-Identifier: Apache-2.0
// FSAI's symbolic phase on the device, where G has the pattern of A's lower triangle: G^T then has that of its upper
// one, and an entry of it finds its number in the mirrored row by bisection. Nothing is sorted.
#include <algorithm>

#include <purlin/core/context_device.hpp>
#include <purlin/precond/fsai/fsai_symbolic.hpp>
#include <purlin/reorder/exclusive_sum.hpp>

namespace purlin::detail {
namespace {

// 8 ms on an H200 for the pattern of a triangle of 21 million entries.
struct SymbolicTuning {
  static constexpr int threads = 256;
  static constexpr int warps = threads / 32;
  static constexpr int blocks_per_processor = 16;  // at most: grids go round
};

// The first of col[begin .. end - 1] that is not below `wanted`, or end.
__device__ __forceinline__ Offset first_from(const Index* col, Offset begin, Offset end, Index wanted) {
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    if (col[middle] < wanted)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// Entries of each row up to the diagonal, and from the diagonal on, which counts in both whether it is there or not.
template <class RowPtr>
__global__ void __launch_bounds__(SymbolicTuning::threads)
    count_kernel(Index rows, const RowPtr* row_ptr, const Index* col, Offset* lower, Offset* upper) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; row < rows; row += step) {
    const auto i = static_cast<Index>(row);
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    const Offset at = first_from(col, begin, end, i);
    const Offset own = at < end && col[at] == i ? 1 : 0;
    lower[i] = at - begin + 1;
    upper[i] = end - at - own + 1;
  }
}

// A warp writes both triangles of a row. An entry (i, j) behind the diagonal stands in G's row j where (j, i) does in
// A's; `missing` is set where that is not there.
template <class RowPtr>
__global__ void __launch_bounds__(SymbolicTuning::threads)
    fill_kernel(Index rows, const RowPtr* row_ptr, const Index* col, const Offset* lower_ptr, Index* lower_col,
                Offset* lower_source, const Offset* upper_ptr, Index* upper_col, Offset* upper_source, int* missing) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * SymbolicTuning::warps;
  for (std::int64_t row = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32; row < rows;
       row += step) {
    const auto i = static_cast<Index>(row);
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    const Offset at = first_from(col, begin, end, i);
    const bool own = at < end && col[at] == i;
    const Offset lower = lower_ptr[i], upper = upper_ptr[i];
    for (Offset k = begin + lane; k < at; k += 32) {
      lower_col[lower + (k - begin)] = col[k];
      lower_source[lower + (k - begin)] = k;
    }
    if (lane == 0) {
      lower_col[lower + (at - begin)] = i;
      lower_source[lower + (at - begin)] = own ? at : Offset{-1};
      upper_col[upper] = i;
      upper_source[upper] = lower_ptr[i + 1] - 1;
    }
    const Offset behind = at + (own ? 1 : 0);
    for (Offset k = behind + lane; k < end; k += 32) {
      const Index j = col[k];
      const Offset j_begin = row_ptr[j], j_end = row_ptr[j + 1];
      const Offset mirrored = first_from(col, j_begin, j_end, i);
      const bool found = mirrored < j_end && col[mirrored] == i;
      if (!found) atomicExch(missing, 1);
      upper_col[upper + 1 + (k - behind)] = j;
      upper_source[upper + 1 + (k - behind)] = found ? lower_ptr[j] + (mirrored - j_begin) : Offset{0};
    }
  }
}

unsigned blocks_for(const Context<Space::device>& ctx, std::int64_t blocks) {
  const std::int64_t most = std::int64_t{ctx.multiprocessors()} * SymbolicTuning::blocks_per_processor;
  return static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, most));
}

// The sums of counts[0 .. n - 1] in the place of the counts, with room for n + 1.
Array<Offset, Space::host> summed(const Context<Space::device>& ctx, Array<Offset, Space::device>& counts) {
  const Context<Space::host> host = host_context(ctx);
  Array<Offset, Space::host> sums(host, counts.size());
  copy<Offset>(ctx, counts.cspan(), sums.span());
  exclusive_sum(host, sums);
  copy<Offset>(ctx, sums.cspan(), counts.span());
  return sums;
}

}  // namespace

bool make_lower_symbolic(const Context<Space::device>& ctx, const Pattern<Space::device>& a,
                         FsaiSymbolic<Space::device>& result) {
  const Index n = a.rows;
  const cudaStream_t stream = ctx.state().stream();
  result.a_row_ptr = Array<Offset, Space::device>(ctx, Offset{n} + 1);
  result.t_row_ptr = Array<Offset, Space::device>(ctx, Offset{n} + 1);
  PURLIN_CHECK_CUDA(cudaMemsetAsync(result.a_row_ptr.data(), 0, result.a_row_ptr.bytes(), stream));
  PURLIN_CHECK_CUDA(cudaMemsetAsync(result.t_row_ptr.data(), 0, result.t_row_ptr.bytes(), stream));
  with_row_ptr(a, [&](auto row_ptr) {
    const unsigned blocks =
        blocks_for(ctx, (std::int64_t{n} + SymbolicTuning::threads - 1) / SymbolicTuning::threads);
    count_kernel<<<blocks, SymbolicTuning::threads, 0, stream>>>(n, row_ptr.data, a.col.data, result.a_row_ptr.data(),
                                                                 result.t_row_ptr.data());
    PURLIN_CHECK_LAUNCH();
  });
  const Array<Offset, Space::host> lower = summed(ctx, result.a_row_ptr), upper = summed(ctx, result.t_row_ptr);
  // As many on both sides, and below each one above has its mirror: none below is left over.
  if (lower[n] != upper[n]) return false;
  result.a_col = Array<Index, Space::device>(ctx, lower[n]);
  result.a_source = Array<Offset, Space::device>(ctx, lower[n]);
  result.t_col = Array<Index, Space::device>(ctx, lower[n]);
  result.t_source = Array<Offset, Space::device>(ctx, lower[n]);
  Array<int, Space::device> missing(ctx, 1);
  PURLIN_CHECK_CUDA(cudaMemsetAsync(missing.data(), 0, missing.bytes(), stream));
  with_row_ptr(a, [&](auto row_ptr) {
    const unsigned blocks = blocks_for(ctx, (std::int64_t{n} + SymbolicTuning::warps - 1) / SymbolicTuning::warps);
    fill_kernel<<<blocks, SymbolicTuning::threads, 0, stream>>>(
        n, row_ptr.data, a.col.data, result.a_row_ptr.data(), result.a_col.data(), result.a_source.data(),
        result.t_row_ptr.data(), result.t_col.data(), result.t_source.data(), missing.data());
    PURLIN_CHECK_LAUNCH();
  });
  sort_by_size(ctx, lower.cspan(), result);
  return fetch(ctx, missing.cspan().data) == 0;
}

}  // namespace purlin::detail
