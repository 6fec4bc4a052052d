// SPDX-License-Identifier: Apache-2.0
/// Launches of kernels that begin while the work in front of them on the stream ends: programmatic dependent launch
/// (CUDA C++ Programming Guide). Internal.
#pragma once

#include "core/memory/context_device.hpp"

namespace newel::detail {

/// Called once by every thread of a kernel that `launch_overlapped` launches, before it reads what earlier work on
/// the stream may have written, and before it writes anything: waits until that work has ended. What the kernel reads
/// before is written by nobody while its operator lives, and the host has waited for it. The kernel behind this one
/// may begin from here on. Without effect where the launch was an ordinary one.
__device__ __forceinline__ void wait_for_earlier_work() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/// Blocks and threads of a launch, bytes of dynamic shared memory.
struct LaunchShape {
  unsigned blocks;
  unsigned threads;
  std::size_t shared_bytes;
};

/// Launches the kernel on the context's stream, and lets it begin before the kernel in front of it has ended where
/// the context says so. Never on the legacy default stream, which other streams wait for.
template <class... Parameters, class... Arguments>
void launch_overlapped(const Context<Space::device>& ctx, void (*kernel)(Parameters...), const LaunchShape& shape,
                       Arguments... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(shape.blocks);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = ctx.state().stream();
  config.attrs = &attribute;
  config.numAttrs = ctx.state().overlaps ? 1 : 0;
  NEWEL_CHECK_CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace newel::detail
