// SPDX-License-Identifier: Apache-2.0
/// How a method solves the systems of a batch with one kind of block. Internal.
#pragma once

#include <algorithm>

#include "core/memory/context_device.hpp"
#include "core/memory/shared_memory_device.hpp"
#include "solver/batched/batched_methods.hpp"
#include "solver/batched/block_team_device.cuh"

namespace newel::detail {

/// Blocks take systems blockIdx.x, blockIdx.x + gridDim.x, ...
template <class Method, class Precond, class T>
__global__ void __maxnreg__(Method::registers(Precond::rows_of_thread)) solve_systems(const BlockArgs<T> args) {
  extern __shared__ double2 batched_shared[];
  BlockTeam<Precond> team(args, reinterpret_cast<char*>(batched_shared));
  team.prepare();
  for (Index s = static_cast<Index>(blockIdx.x); s < args.problem.systems; s += static_cast<Index>(gridDim.x)) {
    if (!args.problem.takes(s)) continue;
    team.take(s);
    solve_group<Method>(team);
    __syncthreads();
  }
}

/// `held`: steps of entries in registers, as `Precond` has them.
template <class Method, class Precond, class T>
void launch_blocks(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem, int held) {
  const Context<Space::device>& ctx = work.context();
  const ThreadLayout layout = work.layout();
  const auto kernel = solve_systems<Method, Precond, T>;
  const std::size_t available = allow_all_shared_memory(ctx, kernel);
  const BlockDemand demand{block_head_bytes, sizeof(T), held, Method::has_basis};
  BlockArgs<T> args{problem, layout, block_memory(layout, work.schedule(), problem.limits, demand, available),
                    work.schedule(), nullptr};
  auto blocks = static_cast<unsigned>(problem.systems);
  if (Method::has_basis && !args.memory.basis_on_chip) {
    int side_by_side = 0;
    NEWEL_CHECK_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&side_by_side, kernel, layout.threads, args.memory.bytes));
    blocks = std::min(blocks, static_cast<unsigned>(std::max(side_by_side, 1) * ctx.multiprocessors()));
    args.basis = work.basis_memory(std::int64_t{blocks} * (problem.limits.restart + 1) * layout.padded_rows());
  }
  const auto threads = static_cast<unsigned>(layout.threads);
  solve_systems<Method, Precond, T><<<blocks, threads, args.memory.bytes, ctx.state().stream()>>>(args);
  NEWEL_CHECK_LAUNCH();
}

/// With M of factors, in a source of its own.
template <class Method, class T>
void attempt_with_factors(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem);

}  // namespace newel::detail
