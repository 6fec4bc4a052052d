// SPDX-License-Identifier: Apache-2.0
// Batches on a device whose M is of incomplete factors or FSAI: a block a system, in one kernel.
#include "solver/batched/batched_bicgstab.hpp"
#include "solver/batched/batched_cg.hpp"
#include "solver/batched/block_factors_device.cuh"
#include "solver/batched/block_launch_device.cuh"

namespace newel::detail {

template <class Method, class T>
void attempt_with_factors(BatchedWork<T, Space::device>& work, const BatchedProblem<T>& problem) {
  launch_blocks<Method, BlockFactors<T, BlockShape<BlockTuning::rows_of_thread, 0>>>(work, problem, 0);
}

#define X(T)                                                                                                     \
  template void attempt_with_factors<BatchedCg>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);       \
  template void attempt_with_factors<BatchedBicgstab>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&); \
  template void attempt_with_factors<BatchedGmres>(BatchedWork<T, Space::device>&, const BatchedProblem<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
