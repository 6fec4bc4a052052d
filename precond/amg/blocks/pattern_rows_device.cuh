// SPDX-License-Identifier: Apache-2.0
/// collect_rows: a sparse pattern on the device from the columns that its rows may have, with repetitions. Internal.
#pragma once

#include "precond/amg/blocks/elements_device.cuh"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {

/// How many different columns a group of lanes collects; a row with more is left to a block, which marks them in a
/// bitmap. Each lane may add one column more than that before it stops, so that a table is never full.
template <int lanes>
struct RowTuning {
  static constexpr int threads = 256;
  static constexpr int groups = threads / lanes;
  static constexpr int most = lanes == 32 ? 256 : 48;
  static constexpr int table = lanes == 32 ? 512 : 128;
  static constexpr int block_threads = 512;
  static constexpr int bitmap_blocks_per_multiprocessor = 1;
};

/// Rows left over, in any order.
struct RowsLeft {
  Index* row;
  unsigned* count;
  __device__ void add(Index i) const { row[atomicAdd(count, 1u)] = i; }
};

/// Where the columns of a row go: first they are counted, with `col` null; then written.
struct RowsOut {
  Offset* row_ptr;
  Index* col;
};

/// A group of lanes has a row: a table in shared memory tells a new column from one that is there; the columns
/// are ranked among each other. `candidates.visit(row, lane, lanes, f)` calls f(column) for its part of the row.
template <int lanes, class Candidates>
__global__ void __launch_bounds__(RowTuning<lanes>::threads)
    collect_by_lanes_kernel(Index rows, const Candidates candidates, RowsOut out, RowsLeft left) {
  using Tuning = RowTuning<lanes>;
  __shared__ Index tables[Tuning::groups][Tuning::table];
  __shared__ Index lists[Tuning::groups][Tuning::most + lanes];
  __shared__ int counts[Tuning::groups];
  const int lane = static_cast<int>(threadIdx.x) % lanes, group = static_cast<int>(threadIdx.x) / lanes;
  Index *const table = tables[group], *const list = lists[group];
  constexpr int of_warp = 32 / lanes;
  const std::int64_t warp = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::int64_t step = std::int64_t{gridDim.x} * Tuning::groups;
  for (std::int64_t first = warp * of_warp; first < rows; first += step) {  // the same for the whole warp
    const std::int64_t at = first + group % of_warp;
    const bool exists = at < rows;
    const auto i = static_cast<Index>(at);
    for (int k = lane; k < Tuning::table; k += lanes) table[k] = -1;
    if (lane == 0) counts[group] = 0;
    __syncwarp();
    if (exists) {
      bool full = false;
      candidates.visit(i, lane, lanes, [&](Index column) {
        unsigned place = static_cast<unsigned>(column) * 0x9e3779b1u >> 16;
        for (bool searching = !full; searching; ++place) {
          const Index there = atomicCAS(table + place % Tuning::table, Index{-1}, column);
          if (there == -1) {
            const int number = atomicAdd(counts + group, 1);
            full = number >= Tuning::most;
            if (!full) list[number] = column;
          }
          searching = there != -1 && there != column;
        }
      });
    }
    __syncwarp();
    const int found = counts[group];
    const bool fits = found <= Tuning::most;
    if (exists && fits && out.col != nullptr) {
      Index* const to = out.col + out.row_ptr[i];
      for (int k = lane; k < found; k += lanes) {
        int rank = 0;
        for (int l = 0; l < found; ++l) rank += list[l] < list[k] ? 1 : 0;
        to[rank] = list[k];
      }
    }
    if (exists && lane == 0) {
      if (!fits) {
        left.add(i);
      } else if (out.col == nullptr) {
        out.row_ptr[i] = found;
      }
    }
    __syncwarp();
  }
}

/// A block has a row of those that are left, and marks its columns in a bitmap of its own, which is all zeros before
/// and after. Words are taken by all threads in turns; a round's words come behind those of the round before.
template <class Candidates>
__global__ void __launch_bounds__(512)
    collect_by_bits_kernel(Index cols, const Candidates candidates, RowsOut out, RowsLeft left, unsigned* bitmaps) {
  const Index words = cols / 32 + 1;
  unsigned* const bits = bitmaps + std::int64_t{blockIdx.x} * words;
  __shared__ unsigned sums[16];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  const unsigned rows = *left.count;
  for (unsigned at = blockIdx.x; at < rows; at += gridDim.x) {
    const Index i = left.row[at];
    candidates.visit(i, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x),
                     [&](Index column) { atomicOr(bits + column / 32, 1u << (column % 32)); });
    __syncthreads();
    Offset before = 0;
    for (Index first = 0; first < words; first += static_cast<Index>(blockDim.x)) {
      const Index w = first + static_cast<Index>(threadIdx.x);
      unsigned word = w < words ? __ldcg(bits + w) : 0u;
      if (w < words) bits[w] = 0;
      const auto own = static_cast<unsigned>(__popc(word));
      unsigned up_to = own;
      for (int apart = 1; apart < 32; apart *= 2) {
        const unsigned below = __shfl_up_sync(0xffffffffu, up_to, apart);
        if (lane >= apart) up_to += below;
      }
      if (lane == 31) sums[warp] = up_to;
      __syncthreads();
      Offset place = before + up_to - own;
      for (int other = 0; other < static_cast<int>(blockDim.x) / 32; ++other) {
        if (other < warp) place += sums[other];
        before += sums[other];
      }
      if (out.col != nullptr) {
        Index* const to = out.col + out.row_ptr[i];
        for (; word != 0; word &= word - 1) to[place++] = w * 32 + __ffs(static_cast<int>(word)) - 1;
      }
      __syncthreads();
    }
    if (threadIdx.x == 0 && out.col == nullptr) out.row_ptr[i] = before;
    __syncthreads();
  }
}

/// The pattern whose row i has the columns that `candidates` visits, each once, ascending. Waits for the stream, to
/// learn how many there are.
template <int lanes, class Candidates>
BlockPattern<Space::device> collect_rows(const DeviceContext& ctx, Index rows, Index cols,
                                         const Candidates& candidates) {
  using Tuning = RowTuning<lanes>;
  const auto stream = ctx.state().stream();
  BlockPattern<Space::device> p;
  p.rows = rows;
  p.cols = cols;
  p.row_ptr = zeros<Offset>(ctx, Offset{rows} + 1);
  DeviceArray<Index> rows_left(ctx, rows);
  DeviceArray<unsigned> count(ctx, 1);
  const unsigned blocks = blocks_for(ctx, std::int64_t{rows} * lanes);
  const auto of_bits = static_cast<unsigned>(ctx.multiprocessors() * Tuning::bitmap_blocks_per_multiprocessor);
  DeviceArray<unsigned> bitmaps;
  const auto collect = [&] {
    const RowsOut out{p.row_ptr.data(), p.col.data()};
    const RowsLeft left{rows_left.data(), count.data()};
    NEWEL_CHECK_CUDA(cudaMemsetAsync(count.data(), 0, count.bytes(), stream));
    collect_by_lanes_kernel<lanes><<<blocks, Tuning::threads, 0, stream>>>(rows, candidates, out, left);
    NEWEL_CHECK_LAUNCH();
    if (value_at(ctx, count, 0) == 0) return;
    if (bitmaps.empty()) bitmaps = zeros<unsigned>(ctx, std::int64_t{of_bits} * (cols / 32 + 1));
    collect_by_bits_kernel<<<of_bits, Tuning::block_threads, 0, stream>>>(cols, candidates, out, left,
                                                                          bitmaps.data());
    NEWEL_CHECK_LAUNCH();
  };
  if (rows > 0) collect();
  exclusive_sum(ctx, p.row_ptr);
  p.col = DeviceArray<Index>(ctx, value_at(ctx, p.row_ptr, rows));
  if (!p.col.empty()) collect();
  return p;
}

}  // namespace newel::detail
