// SPDX-License-Identifier: Apache-2.0
/// Asynchronous copies to shared memory of what a product reads once: they pass the first-level cache by and are the
/// first to leave the second-level one, which both belong to x. Internal.
#pragma once

#include <cuda_pipeline.h>

#include <cstdint>

namespace purlin::detail {

/// What `copy_once_async` needs, once a kernel.
__device__ __forceinline__ std::uint64_t leaves_cache_first() {
  std::uint64_t policy = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy)::"memory");
#endif
  return policy;
}

/// 16 bytes, both ends aligned to 16; for `__pipeline_commit` and `__pipeline_wait_prior`.
__device__ __forceinline__ void copy_once_async(void* to, const void* from, std::uint64_t policy) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const std::uint64_t shared = __cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"l"(shared), "l"(from), "l"(policy)
               : "memory");
#else
  __pipeline_memcpy_async(to, from, 16);
#endif
}

}  // namespace purlin::detail
