// SPDX-License-Identifier: Apache-2.0
// Faults that the emulation must show; the first argument chooses one.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void __launch_bounds__(64) reverse_kernel(const int* from, int* to, int n, bool sync) {
  __shared__ int held[64], place[64];
  held[threadIdx.x] = from[threadIdx.x];
  place[threadIdx.x] = n - 1 - static_cast<int>(threadIdx.x);
  if (sync) __syncthreads();
  to[threadIdx.x] = held[place[threadIdx.x]];
}

__global__ void beyond_kernel(int* to, int n) { to[threadIdx.x + n] = 1; }

// Thread 40 leaves while its warp is still to meet.
__global__ void split_kernel() {
  if (threadIdx.x == 40) return;
  if (threadIdx.x >= 32) __shfl_sync(0xffffffffu, 1, 0);
}

// Each eight lanes reverse what they hold, as often as their number says.
__global__ void groups_kernel(const int* from, int* to, int n) {
  const int lane = threadIdx.x % 32, group = lane / 8;
  int held = from[n - 1 - threadIdx.x];
  for (int k = 0; k < 2 * group; ++k) held = __shfl_xor_sync(0xffu << (8 * group), held, 7);
  __syncwarp();
  to[threadIdx.x] = held;
}

// Half of the lanes name the warp, the others only themselves.
__global__ void masks_kernel() {
  const unsigned upper = 0xffff0000u;
  __shfl_sync(threadIdx.x % 32 < 16 ? 0xffffffffu : upper, 1, 16);
}

// The first warp waits for a barrier that the second does not reach.
__global__ void stuck_kernel(const int* flag) {
  if (threadIdx.x < 32) __syncthreads();
  while (threadIdx.x >= 32 && *static_cast<const volatile int*>(flag) == 0) emu::spin();
}

__global__ void large_kernel() {
  extern __shared__ int some[];
  some[threadIdx.x] = 0;
}

int main(int, char** arguments) {
  const int n = 64;
  const auto wanted = [&](const char* fault) { return std::strcmp(arguments[1], fault) == 0; };
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *a, *b;
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i;
  cudaMemcpyAsync(a, values.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream);
  if (wanted("none")) reverse_kernel<<<1, n, 0, stream>>>(a, b, n, true);
  if (wanted("race")) reverse_kernel<<<1, n, 0, stream>>>(a, b, n, false);
  if (wanted("beyond")) beyond_kernel<<<1, 32, 0, stream>>>(b, n - 31);
  if (wanted("groups")) groups_kernel<<<1, n, 0, stream>>>(a, b, n);
  if (wanted("masks")) masks_kernel<<<1, n, 0, stream>>>();
  if (wanted("split")) split_kernel<<<1, n, 0, stream>>>();
  if (wanted("bounds")) reverse_kernel<<<1, 2 * n, 0, stream>>>(a, b, n, true);
  if (wanted("shared")) large_kernel<<<1, n, 64 << 10, stream>>>();
  if (wanted("stuck")) {
    cudaMemsetAsync(a, 0, sizeof(int), stream);
    stuck_kernel<<<1, n, 0, stream>>>(a);
  }
  if (wanted("stray")) cudaMemsetAsync(b, 0, (n + 1) * sizeof(int), stream);
  cudaMemcpyAsync(values.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  bool right = true;
  for (int i = 0; i < n; ++i) right = right && values[i] == n - 1 - i;
  std::printf("%s\n", right ? "right" : "wrong");
}
