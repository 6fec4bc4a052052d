// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies to shared memory.
#pragma once

#include <cuda_runtime.h>

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes) {
  emu::pipeline_copy(to, from, bytes);
}
inline void __pipeline_commit() { emu::pipeline_commit(); }
inline void __pipeline_wait_prior(unsigned prior) { emu::pipeline_wait(prior); }
