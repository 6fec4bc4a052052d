// SPDX-License-Identifier: Apache-2.0
/// How much shared memory launches of a kernel may take. Internal.
#pragma once

#include <cstddef>

#include "core/memory/context_device.hpp"

namespace newel::detail {

/// Lets launches of the kernel take all shared memory that a block of this device may have, and returns how many
/// bytes of it may be dynamic. All, and never just what the next launch takes: the limit is the kernel's, and a
/// smaller one would fail a launch that another thread is about to make.
template <class Kernel>
std::size_t allow_all_shared_memory(const Context<Space::device>& ctx, Kernel kernel) {
  int of_block = 0;
  NEWEL_CHECK_CUDA(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx.device()));
  cudaFuncAttributes attributes;
  NEWEL_CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  const int dynamic = of_block - static_cast<int>(attributes.sharedSizeBytes);
  NEWEL_CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic));
  return static_cast<std::size_t>(dynamic);
}

}  // namespace newel::detail
