// SPDX-License-Identifier: Apache-2.0
// The row lengths of a pattern on a device: a histogram of the usual ones, and a list of the longer.
#include <map>

#include <newel/core/vector_ops.hpp>
#include "core/memory/context_device.hpp"
#include "spmv/cost/matrix_facts_device.hpp"
#include "spmv/product_device.cuh"

namespace newel {
namespace {

constexpr int threads = 256;
constexpr int counted = 4096;  // longer ones are few
constexpr unsigned all_lanes = 0xffffffffu;

template <class P>
__device__ __forceinline__ Index length_of(const P* row_ptr, Offset row) {
  return static_cast<Index>(Offset{detail::load_cached(row_ptr + row + 1)} -
                            Offset{detail::load_cached(row_ptr + row)});
}

/// Each bin of `count` is a length, the last one all longer rows. Most rows of a warp are as long as its first: those
/// are added at once.
template <class P>
__global__ void __launch_bounds__(threads) count_lengths(const P* row_ptr, Index rows, Index* count) {
  __shared__ Index mine[counted + 1];
  for (int k = static_cast<int>(threadIdx.x); k <= counted; k += threads) mine[k] = 0;
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (Offset first = Offset{blockIdx.x} * threads + static_cast<int>(threadIdx.x) - lane; first < rows;
       first += Offset{gridDim.x} * threads) {
    const Offset row = first + lane;
    const bool there = row < rows;
    const int bin = there ? min(length_of(row_ptr, row), Index{counted}) : -1;
    const int of_first = __shfl_sync(all_lanes, bin, 0);
    const unsigned same = __ballot_sync(all_lanes, bin == of_first);
    if (lane == 0) atomicAdd(mine + of_first, __popc(same));
    if (there && bin != of_first) atomicAdd(mine + bin, 1);
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k <= counted; k += threads) {
    if (mine[k] > 0) atomicAdd(count + k, mine[k]);
  }
}

/// In any order: they are counted on the host.
template <class P>
__global__ void __launch_bounds__(threads) list_longer(const P* row_ptr, Index rows, Index* length, Index* found) {
  const Offset row = Offset{blockIdx.x} * threads + threadIdx.x;
  if (row >= rows) return;
  const Index of_row = length_of(row_ptr, row);
  if (of_row >= counted) length[atomicAdd(found, 1)] = of_row;
}

template <class P>
std::vector<Index> longer_rows(const Context<Space::device>& ctx, const P* row_ptr, Index rows, Index longer) {
  if (longer == 0) return {};
  Array<Index, Space::device> length(ctx, longer), found(ctx, 1);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(found.data(), 0, sizeof(Index), ctx.stream()));
  const auto blocks = static_cast<unsigned>((Offset{rows} + threads - 1) / threads);
  list_longer<<<blocks, threads, 0, ctx.stream()>>>(row_ptr, rows, length.data(), found.data());
  NEWEL_CHECK_LAUNCH();
  return to_vector(ctx, length.cspan());
}

template <class P>
std::function<RowLengths()> start_lengths(const Context<Space::device>& ctx, const P* row_ptr, Index rows,
                                          detail::SmallResults& results) {
  constexpr int blocks_of_multiprocessor = 4;
  Index* const count = results.take<Index>(counted + 1);
  const unsigned blocks = blocks_to_share(ctx, rows, threads, blocks_of_multiprocessor);
  count_lengths<<<blocks, threads, 0, ctx.stream()>>>(row_ptr, rows, count);
  NEWEL_CHECK_LAUNCH();
  return [ctx, row_ptr, rows, count, &results] {
    const std::vector<Index> counts = results.at(count, counted + 1);
    RowLengths lengths;
    for (Index length = 0; length < counted; ++length) {
      const Index of_length = counts[static_cast<std::size_t>(length)];
      if (of_length > 0) lengths.emplace_back(length, of_length);
    }
    std::map<Index, Index> longer;
    for (const Index length : longer_rows(ctx, row_ptr, rows, counts.back())) ++longer[length];
    lengths.insert(lengths.end(), longer.begin(), longer.end());
    return lengths;
  };
}

}  // namespace

std::function<RowLengths()> detail::start_row_lengths(const Context<Space::device>& ctx,
                                                      const Pattern<Space::device>& pattern, SmallResults& results) {
  if (pattern.rows == 0) return [] { return RowLengths(); };
  return pattern.row_ptr32.data != nullptr ? start_lengths(ctx, pattern.row_ptr32.data, pattern.rows, results)
                                           : start_lengths(ctx, pattern.row_ptr64.data, pattern.rows, results);
}

RowLengths row_lengths(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern) {
  detail::SmallResults results(ctx);
  const auto lengths = detail::start_row_lengths(ctx, pattern, results);
  results.fetch();
  return lengths();
}

}  // namespace newel
