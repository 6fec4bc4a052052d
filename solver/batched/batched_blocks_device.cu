// SPDX-License-Identifier: Apache-2.0
// Batches on a device: a block a system, in one kernel.
#include <algorithm>

#include "core/memory/context_device.hpp"
#include "core/memory/shared_memory_device.hpp"
#include "solver/batched/batched_bicgstab.hpp"
#include "solver/batched/batched_cg.hpp"
#include "solver/batched/batched_methods.hpp"
#include "solver/batched/block_team_device.cuh"

namespace newel::detail {
namespace {

/// Blocks take systems blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Method, class T, int rows_of_thread>
__global__ void __maxnreg__(Method::registers) solve_systems(const BlockArgs<T> args) {
  extern __shared__ double4 batched_shared[];
  BlockTeam<T, rows_of_thread> team(args, reinterpret_cast<char*>(batched_shared));
  for (Index s = static_cast<Index>(blockIdx.x); s < args.problem.systems; s += static_cast<Index>(gridDim.x)) {
    if (!args.problem.takes(s)) continue;
    team.take(s);
    solve_group<Method>(team);
    __syncthreads();
  }
}

/// A warp a system.
template <class T>
__global__ void mark_systems(const BatchedProblem<T> problem, const Index* transposed, const Index* diagonal,
                             unsigned char* is_definite) {
  const int lane = static_cast<int>(threadIdx.x % warp);
  const auto s = static_cast<Index>((blockIdx.x * blockDim.x + threadIdx.x) / warp);
  if (s >= problem.systems) return;
  const T* const a = problem.values + s * problem.nonzeros;
  bool holds = true;
  for (Index row = lane; row < problem.rows; row += warp) {
    holds = holds && diagonal[row] >= 0 && a[diagonal[row]] > 0;
  }
  for (Offset e = lane; e < problem.nonzeros && holds; e += warp) {
    const Index other = transposed[e];
    holds = other >= 0 ? same_up_to_rounding(a[e], a[other], batched_epsilon<T>) : a[e] == 0;
  }
  holds = __all_sync(0xffffffffu, holds);
  if (lane == 0) {
    is_definite[s] = holds ? 1 : 0;
    problem.outcome[s] = BatchedOutcome{};
  }
}

/// The layout of shared memory if `available` bytes can be had: values stay on the chip if they fit, then the basis.
template <class T>
BlockMemory memory_of(const BlockLayout& layout, const BatchedLimits& limits, bool has_basis, std::size_t available) {
  BlockMemory memory;
  std::size_t next = block_head_bytes;
  const auto take = [&](std::size_t numbers, std::size_t bytes) {
    constexpr std::size_t aligned = BlockTuning::chunk_bytes;
    const std::size_t at = next;
    next += (numbers * bytes + aligned - 1) / aligned * aligned;
    return at;
  };
  const auto rows = static_cast<std::size_t>(layout.padded_rows()), slots = static_cast<std::size_t>(layout.slots());
  const auto width = static_cast<std::size_t>(limits.block_rows);
  take(rows, sizeof(T));  // w
  memory.inverse = take(rows * width, sizeof(T));
  memory.exchange = take(width > 1 ? rows : 0, sizeof(T));
  memory.small = take(has_basis ? static_cast<std::size_t>(BatchedSmall{limits.restart}.count()) : 0, sizeof(double));
  memory.bytes = next;
  memory.values = take(slots, sizeof(T));
  memory.columns = take(slots, sizeof(std::uint16_t));
  memory.values_on_chip = next <= available;
  next = memory.bytes = memory.values_on_chip ? next : memory.bytes;
  memory.basis = take(has_basis ? rows * static_cast<std::size_t>(limits.restart + 1) : 0, sizeof(T));
  memory.basis_on_chip = next <= available;
  memory.bytes = memory.basis_on_chip ? next : memory.bytes;
  return memory;
}

BlockLayout shape_of(Index rows, Offset nonzeros) {
  BlockLayout shape;
  const bool is_long = nonzeros >= std::int64_t{BlockTuning::long_rows} * rows && rows <= BlockTuning::most_threads;
  shape.rows = rows;
  shape.rows_of_thread = is_long ? 1 : BlockTuning::rows_of_thread;
  const int rows_of_warp = warp * shape.rows_of_thread;
  shape.threads = warp * std::max(1, (rows + rows_of_warp - 1) / rows_of_warp);
  return shape;
}

/// The arrays of a layout, on the host.
struct LayoutArrays {
  std::vector<int> first = {0}, source;
  std::vector<std::uint16_t> column;

  LayoutArrays(const Pattern<Space::host>& pattern, const BlockLayout& shape, int value_bytes) {
    const auto length = [&](int row) {
      return row < pattern.rows ? static_cast<int>(pattern.row_begin(row + 1) - pattern.row_begin(row)) : 0;
    };
    for (int of_warp = 0; of_warp < shape.threads / warp; ++of_warp) {
      int steps = 0;
      for_rows(shape, of_warp, [&](int, int, int row) { steps = std::max(steps, length(row)); });
      const auto slots = static_cast<std::size_t>(first.back() + steps) * warp * shape.rows_of_thread;
      source.resize(slots, -1);
      column.resize(slots);
      for (int j = 0; j < steps; ++j) {
        for_rows(shape, of_warp, [&](int lane, int k, int row) {
          const int step = first.back() + j, chunk = BlockTuning::chunk_bytes / value_bytes;
          const bool stored = j < length(row);
          const Offset e = stored ? pattern.row_begin(row) + j : 0;
          if (stored)
            source[static_cast<std::size_t>(value_slot(step, lane, k, shape.rows_of_thread, chunk))] =
                static_cast<int>(e);
          column[static_cast<std::size_t>((step * warp + lane) * shape.rows_of_thread + k)] =
              static_cast<std::uint16_t>((stored ? pattern.col[e] : row) * value_bytes);
        });
      }
      first.push_back(first.back() + steps);
    }
  }

 private:
  template <class F>
  static void for_rows(const BlockLayout& shape, int of_warp, F&& f) {
    for (int lane = 0; lane < warp; ++lane) {
      for (int k = 0; k < shape.rows_of_thread; ++k) f(lane, k, of_warp * warp + lane + k * shape.threads);
    }
  }
};

}  // namespace

template <class T>
BatchedWork<T, Space::device>::BatchedWork(const Context<Space::device>& ctx, const Pattern<Space::host>& pattern,
                                           const BatchedLimits& limits, const BatchedNeeds& needs)
    : ctx_(ctx) {
  if (pattern.rows > BlockTuning::most_rows) return;
  shape_ = shape_of(pattern.rows, pattern.nnz());
  const LayoutArrays arrays(pattern, shape_, static_cast<int>(sizeof(T)));
  shape_.steps = arrays.first.back();
  int available = 0;
  NEWEL_CHECK_CUDA(cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx.device()));
  const auto most = static_cast<std::size_t>(available);
  fits_ = memory_of<T>(shape_, limits, needs.has_basis, most).bytes <= most;
  if (!fits_) return;
  first_ = make_array(ctx, arrays.first);
  source_ = make_array(ctx, arrays.source);
  column_ = make_array(ctx, arrays.column);
  const MirrorPositions mirror = mirror_positions(pattern);
  transposed_ = make_array(ctx, mirror.transposed);
  diagonal_ = make_array(ctx, mirror.diagonal);
}

template <class T>
T* BatchedWork<T, Space::device>::basis_memory(std::int64_t numbers) {
  if (basis_.size() < numbers) basis_ = Array<T, Space::device>(ctx_, numbers);
  return basis_.data();
}

template <class T>
void BatchedWork<T, Space::device>::mark_definite(const BatchedProblem<T>& problem, unsigned char* is_definite) {
  constexpr unsigned threads = 256;
  const auto blocks = (static_cast<unsigned>(problem.systems) * warp + threads - 1) / threads;
  mark_systems<T>
      <<<blocks, threads, 0, ctx_.state().stream()>>>(problem, transposed_.data(), diagonal_.data(), is_definite);
  NEWEL_CHECK_LAUNCH();
}

template <class Method, class T, int rows_of_thread>
void launch(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem) {
  const Context<Space::device>& ctx = work.context();
  const BlockLayout layout = work.layout();
  const auto kernel = solve_systems<Method, T, rows_of_thread>;
  const std::size_t available = allow_all_shared_memory(ctx, kernel);
  BlockArgs<T> args{problem, layout, memory_of<T>(layout, problem.limits, Method::has_basis, available), nullptr};
  auto blocks = static_cast<unsigned>(problem.systems);
  if (Method::has_basis && !args.memory.basis_on_chip) {
    int side_by_side = 0;
    NEWEL_CHECK_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&side_by_side, kernel, layout.threads, args.memory.bytes));
    blocks = std::min(blocks, static_cast<unsigned>(std::max(side_by_side, 1) * ctx.multiprocessors()));
    args.basis = work.basis_memory(std::int64_t{blocks} * (problem.limits.restart + 1) * layout.padded_rows());
  }
  const auto threads = static_cast<unsigned>(layout.threads);
  solve_systems<Method, T, rows_of_thread><<<blocks, threads, args.memory.bytes, ctx.state().stream()>>>(args);
  NEWEL_CHECK_LAUNCH();
}

template <class Method, class T>
void attempt_on_blocks(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem) {
  if (work.layout().rows_of_thread == 1) {
    launch<Method, T, 1>(work, problem);
  } else {
    launch<Method, T, BlockTuning::rows_of_thread>(work, problem);
  }
}

#define X(T)                                                                                                  \
  template class BatchedWork<T, Space::device>;                                                               \
  template void attempt_on_blocks<BatchedCg>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);       \
  template void attempt_on_blocks<BatchedBicgstab>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&); \
  template void attempt_on_blocks<BatchedGmres>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
