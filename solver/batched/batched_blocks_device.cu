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
template <class Method, class T>
__global__ void __launch_bounds__(BlockTuning::most_threads) solve_systems(const BlockArgs<T> args) {
  extern __shared__ double batched_shared[];
  BlockTeam<T> team(args, reinterpret_cast<char*>(batched_shared));
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

constexpr std::size_t partial_bytes =
    2 * BlockTuning::most_sums * (BlockTuning::most_threads / warp) * sizeof(double);

/// The layout of shared memory if `available` bytes can be had: values stay on the chip if they fit, then the basis.
template <class T>
BlockMemory memory_of(int rows, int slots, const BatchedLimits& limits, bool has_basis, std::size_t available) {
  BlockMemory memory;
  std::size_t next = partial_bytes;
  const auto take = [&](std::size_t numbers, std::size_t bytes) {
    const std::size_t at = next;
    next += (numbers * bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
    return at;
  };
  const auto n = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(limits.block_rows);
  memory.small = take(has_basis ? static_cast<std::size_t>(BatchedSmall{limits.restart}.count()) : 0, sizeof(double));
  memory.w = take(n, sizeof(T));
  memory.inverse = take(n * width, sizeof(T));
  memory.exchange = take(width > 1 ? n : 0, sizeof(T));
  memory.bytes = next;
  memory.values = take(static_cast<std::size_t>(slots), sizeof(T));
  memory.values_on_chip = next <= available;
  next = memory.bytes = memory.values_on_chip ? next : memory.bytes;
  memory.basis = take(has_basis ? n * static_cast<std::size_t>(limits.restart + 1) : 0, sizeof(T));
  memory.basis_on_chip = next <= available;
  memory.bytes = memory.basis_on_chip ? next : memory.bytes;
  return memory;
}

int threads_for(Index rows, int slots) {
  const auto warps = [](int items, int per_thread) { return (items + per_thread * warp - 1) / (per_thread * warp); };
  const int least = std::max(1, warps(rows, BlockTuning::rows_of_thread));
  const int most = std::clamp(warps(rows, 1), least, BlockTuning::most_threads / warp);
  return warp * std::clamp(warps(slots, BlockTuning::entries_of_thread), least, most);
}

}  // namespace

template <class T>
BatchedWork<T, Space::device>::BatchedWork(const Context<Space::device>& ctx, const Pattern<Space::host>& pattern,
                                           const BatchedLimits& limits, const BatchedNeeds& needs)
    : ctx_(ctx), rows_(pattern.rows) {
  if (rows_ > BlockTuning::most_rows) return;
  std::vector<int> slice = {0}, source;
  std::vector<std::uint16_t> column;
  for (Index first = 0; first < rows_; first += warp) {
    Offset length = 0;
    for (Index row = first; row < std::min(first + warp, rows_); ++row)
      length = std::max(length, pattern.row_begin(row + 1) - pattern.row_begin(row));
    for (Offset j = 0; j < length; ++j) {
      for (Index row = first; row < first + warp; ++row) {
        const Offset e = row < rows_ ? pattern.row_begin(row) + j : 0;
        const bool stored = row < rows_ && e < pattern.row_begin(row + 1);
        source.push_back(stored ? static_cast<int>(e) : -1);
        column.push_back(static_cast<std::uint16_t>(stored ? pattern.col[e] : std::min(row, rows_ - 1)));
      }
    }
    slice.push_back(static_cast<int>(source.size()));
  }
  threads_ = threads_for(rows_, static_cast<int>(source.size()));
  int available = 0;
  NEWEL_CHECK_CUDA(cudaDeviceGetAttribute(&available, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx.device()));
  const auto bytes = memory_of<T>(rows_, static_cast<int>(source.size()), limits, needs.has_basis,
                                  static_cast<std::size_t>(available))
                         .bytes;
  fits_ = bytes <= static_cast<std::size_t>(available);
  if (!fits_) return;
  slice_ = make_array(ctx, slice);
  source_ = make_array(ctx, source);
  column_ = make_array(ctx, column);
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
  mark_systems<T><<<blocks, threads, 0, ctx_.state().stream()>>>(problem, transposed_.data(), diagonal_.data(),
                                                                 is_definite);
  NEWEL_CHECK_LAUNCH();
}

template <class Method, class T>
void attempt_on_blocks(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem) {
  const Context<Space::device>& ctx = work.context();
  const BlockLayout layout = work.layout();
  const auto kernel = solve_systems<Method, T>;
  const std::size_t available = allow_all_shared_memory(ctx, kernel);
  BlockArgs<T> args{problem, layout, memory_of<T>(layout.rows, layout.slots, problem.limits, Method::has_basis, available),
                    nullptr};
  auto blocks = static_cast<unsigned>(problem.systems);
  if (Method::has_basis && !args.memory.basis_on_chip) {
    int side_by_side = 0;
    NEWEL_CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&side_by_side, kernel, layout.threads,
                                                                   args.memory.bytes));
    blocks = std::min(blocks, static_cast<unsigned>(std::max(side_by_side, 1) * ctx.multiprocessors()));
    args.basis = work.basis_memory(std::int64_t{blocks} * (problem.limits.restart + 1) * layout.rows);
  }
  solve_systems<Method, T><<<blocks, static_cast<unsigned>(layout.threads), args.memory.bytes, ctx.state().stream()>>>(
      args);
  NEWEL_CHECK_LAUNCH();
}

#define X(T)                                                                                              \
  template class BatchedWork<T, Space::device>;                                                           \
  template void attempt_on_blocks<BatchedCg>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);       \
  template void attempt_on_blocks<BatchedBicgstab>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&); \
  template void attempt_on_blocks<BatchedGmres>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
