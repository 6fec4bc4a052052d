// SPDX-License-Identifier: Apache-2.0
// The vector primitives' steps on the device.
#include "core/vectors/rank_step_device.cuh"
#include "core/vectors/vector_ops_steps.hpp"

NEWEL_VECTOR_OPS_STEPS(NEWEL_SWEEP_RANKS_DEVICE)

namespace newel::detail {
namespace {

__global__ void waiting_kernel() { wait_for_earlier_work(); }

}  // namespace

bool kernels_may_overlap() {
  constexpr int first_with_wait = 90, first_with_capture = 12030;
  cudaFuncAttributes attributes;
  NEWEL_CHECK_CUDA(cudaFuncGetAttributes(&attributes, waiting_kernel));
  int driver = 0;
  NEWEL_CHECK_CUDA(cudaDriverGetVersion(&driver));
  return attributes.ptxVersion >= first_with_wait && driver >= first_with_capture;
}

}  // namespace newel::detail
