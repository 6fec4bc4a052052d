// SPDX-License-Identifier: Apache-2.0
/// How a lane walks the places of an EHYB slice: several loaded at once, then added. For every kernel that
/// multiplies with such a matrix. Internal.
#pragma once

#include <purlin/core/types.hpp>
#include <purlin/spmv/product_device.cuh>

namespace purlin::detail {

/// Values that stream past.
struct LoadOnce {
  template <class V>
  __device__ __forceinline__ V operator()(const V* p) const {
    return load_once(p);
  }
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
                                            EhybPlaces<T, B, U>& places) {
  constexpr int warp = 32;
  const int lane = threadIdx.x % warp;
  const Load load;
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
                                          T (&sums)[B]) {
  constexpr int warp = 32;
  const int lane = threadIdx.x % warp;
  const Load load;
  const T* value = values + Offset{k} * (B * B * warp) + lane;
  const T* from = x + load(columns + Offset{k} * warp + lane) * B;
#pragma unroll at_once
  for (int e = 0; e < B; ++e, value += warp) {
#pragma unroll
    for (int d = 0; d < B; ++d) sums[d] += load(value + d * B * warp) * from[e];
  }
}

}  // namespace purlin::detail
