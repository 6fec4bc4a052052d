// SPDX-License-Identifier: Apache-2.0
/// Values that threads of a grid wait for. Internal.
#pragma once

#include <cstdint>

namespace newel::detail {

/// All bits set, a NaN that no arithmetic makes: the value is not there yet. A value is written at once, so whoever
/// reads another one has it; nothing else is published with it, and no fence is needed.
inline constexpr std::uint64_t no_double = ~std::uint64_t{0};
inline constexpr std::uint32_t no_float = ~std::uint32_t{0};
inline constexpr int no_value_byte = 0xff;

/// Makes a value visible to all threads of the device. Another NaN takes the place of one with all bits set.
__device__ __forceinline__ void post(double* to, double value) {
  auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
  if (bits == no_double) bits = 0x7ff8000000000000u;
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(bits) : "memory");
}
__device__ __forceinline__ void post(float* to, float value) {
  auto bits = static_cast<std::uint32_t>(__float_as_int(value));
  if (bits == no_float) bits = 0x7fc00000u;
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(bits) : "memory");
}

/// Takes a value back.
__device__ __forceinline__ void clear(double* at) { *at = __longlong_as_double(static_cast<long long>(no_double)); }
__device__ __forceinline__ void clear(float* at) { *at = __int_as_float(static_cast<int>(no_float)); }

/// The value at `from`, when it is there. Some thread must be about to post it that waits for none that waits here.
__device__ __forceinline__ double wait_for(const double* from) {
  std::uint64_t bits;
  do {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(from) : "memory");
  } while (bits == no_double);
  return __longlong_as_double(static_cast<long long>(bits));
}
__device__ __forceinline__ float wait_for(const float* from) {
  std::uint32_t bits;
  do {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(from) : "memory");
  } while (bits == no_float);
  return __int_as_float(static_cast<int>(bits));
}

/// The next number of a counter, in all lanes of a warp: warps take work in its order, so whatever a warp waits for
/// has been taken by one that is running.
__device__ __forceinline__ unsigned next_ticket(unsigned* counter) {
  unsigned ticket = 0;
  if (threadIdx.x % 32 == 0) ticket = atomicAdd(counter, 1u);
  return __shfl_sync(0xffffffffu, ticket, 0);
}

}  // namespace newel::detail
