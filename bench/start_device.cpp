// SPDX-License-Identifier: Apache-2.0
// What every program that uses a device pays: a context and a stream, and nothing else. bench/run/bench_start.py times it.
#include <cstdio>

#include <cuda_runtime.h>

int main() {
  cudaStream_t stream = nullptr;
  const cudaError_t status = cudaStreamCreate(&stream);
  if (status != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
