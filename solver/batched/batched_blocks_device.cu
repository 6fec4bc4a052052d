// SPDX-License-Identifier: Apache-2.0
// Batches on a device: a block a system, in one kernel. M is of diagonal blocks, or none.
#include "solver/batched/batched_bicgstab.hpp"
#include "solver/batched/batched_cg.hpp"
#include "solver/batched/block_diagonals_device.cuh"
#include "solver/batched/block_launch_device.cuh"

namespace newel::detail {
namespace {

template <class Method, class T, int rows, int steps>
void launch(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem) {
  constexpr int held = Method::holds_entries ? steps : 0;
  launch_blocks<Method, BlockDiagonals<T, BlockShape<rows, held>>>(work, problem, held);
}

}  // namespace

template <class Method, class T>
void attempt_on_blocks(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem) {
  if (problem.limits.inverse != BatchedInverse::blocks) {
    attempt_with_factors<Method>(work, problem);
  } else if (work.layout().rows_of_thread == 1) {
    launch<Method, T, 1, BlockTuning::held_long_steps>(work, problem);
  } else if (work.layout().rows_of_thread == BlockTuning::many_rows) {
    launch<Method, T, BlockTuning::many_rows, BlockTuning::held_steps>(work, problem);
  } else {
    launch<Method, T, BlockTuning::rows_of_thread, BlockTuning::held_steps>(work, problem);
  }
}

#define X(T)                                                                                                  \
  template void attempt_on_blocks<BatchedCg>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);       \
  template void attempt_on_blocks<BatchedBicgstab>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&); \
  template void attempt_on_blocks<BatchedGmres>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
