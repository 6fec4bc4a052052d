// SPDX-License-Identifier: Apache-2.0
/// How calls of CUB are emulated: the first says how much memory it wants, the second works on the stream.
#pragma once

#include <cuda_runtime.h>

namespace emu {

void enqueue(cudaStream_t stream, std::function<void()> op);
bool check_device_range(const char* what, const void* p, std::size_t bytes);

template <class Work>
cudaError_t in_two_phases(void* memory, std::size_t& bytes, const char* what, cudaStream_t stream, Work&& work) {
  constexpr std::size_t wanted = 512;
  if (memory == nullptr) {
    bytes = wanted;
    return cudaSuccess;
  }
  if (bytes < wanted || !check_device_range(what, memory, bytes)) return cudaErrorInvalidValue;
  enqueue(stream, work);
  return cudaSuccess;
}

}  // namespace emu
