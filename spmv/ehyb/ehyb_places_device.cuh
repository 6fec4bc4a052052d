// SPDX-License-Identifier: Apache-2.0
/// How a lane walks the places of an EHYB slice: several loaded at once, then added. For every kernel that
/// multiplies with such a matrix. Internal.
#pragma once

#include <newel/core/types.hpp>
#include "spmv/product_device.cuh"

namespace newel::detail {

/// Values that stream past.
struct LoadOnce {
  template <class V>
  __device__ __forceinline__ V operator()(const V* p) const {
    return load_once(p);
  }
};

/// Values that stream past, of which the second-level cache keeps a share from one product to the next: lines of that
/// share, the same ones every time, are the last to be displaced, and all others the first.
class LoadKept {
 public:
  __device__ __forceinline__ explicit LoadKept(float share) {
    if (share > 0) {
      asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;" : "=l"(policy_) : "f"(share));
    } else {
      asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy_));
    }
  }
  __device__ __forceinline__ double operator()(const double* p) const {
    double value;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(value) : "l"(p), "l"(policy_));
    return value;
  }
  __device__ __forceinline__ float operator()(const float* p) const {
    float value;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(p), "l"(policy_));
    return value;
  }
  __device__ __forceinline__ std::uint16_t operator()(const std::uint16_t* p) const {
    std::uint16_t value;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(value) : "l"(p), "l"(policy_));
    return value;
  }
  __device__ __forceinline__ std::uint32_t operator()(const std::uint32_t* p) const {
    std::uint32_t value;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value) : "l"(p), "l"(policy_));
    return value;
  }

 private:
  std::uint64_t policy_;
};

/// Values that stay in shared memory.
struct LoadHere {
  template <class V>
  __device__ __forceinline__ V operator()(const V* p) const {
    return *p;
  }
};

/// What a lane holds of U places of a slice; of none, it is never inspected.
template <class T, int B, int U>
struct EhybPlaces {
  int column[U > 0 ? U : 1];
  T value[U > 0 ? U : 1][B * B];
};

/// Loads `count` places, the first of them k; none where count <= 0, and U at most.
template <class Load, class T, int B, int U>
__device__ __forceinline__ void load_places(const std::uint16_t* columns, const T* values, Index k, int count,
                                            EhybPlaces<T, B, U>& places, const Load& load = Load()) {
  constexpr int warp = 32;
  const int lane = threadIdx.x % warp;
  const std::uint16_t* column = columns + Offset{k} * warp + lane;
  const T* value = values + Offset{k} * (B * B * warp) + lane;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (u < count) {
      places.column[u] = load(column + u * warp);
#pragma unroll
      for (int i = 0; i < B * B; ++i) places.value[u][i] = load(value + (u * B * B + i) * warp);
    }
  }
}

/// Adds them to the lane's sums; x is the part's, own entries and then its halo's.
template <class T, int B, int U>
__device__ __forceinline__ void add_places(const EhybPlaces<T, B, U>& places, int count, const T* x, T (&sums)[B]) {
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (u < count) {
#pragma unroll
      for (int e = 0; e < B; ++e) {
        const T from = x[places.column[u] * B + e];
#pragma unroll
        for (int d = 0; d < B; ++d) sums[d] += places.value[u][d * B + e] * from;
      }
    }
  }
}

/// Loads one place and adds it, column after column of its block, `at_once` of them loaded at a time.
template <class Load, int at_once = 6, class T, int B>
__device__ __forceinline__ void add_place(const std::uint16_t* columns, const T* values, Index k, const T* x,
                                          T (&sums)[B], const Load& load = Load()) {
  constexpr int warp = 32;
  const int lane = threadIdx.x % warp;
  const T* value = values + Offset{k} * (B * B * warp) + lane;
  const T* from = x + load(columns + Offset{k} * warp + lane) * B;
#pragma unroll at_once
  for (int e = 0; e < B; ++e, value += warp) {
#pragma unroll
    for (int d = 0; d < B; ++d) sums[d] += load(value + d * B * warp) * from[e];
  }
}

}  // namespace newel::detail
