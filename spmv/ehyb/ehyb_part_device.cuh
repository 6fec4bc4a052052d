// SPDX-License-Identifier: Apache-2.0
/// How a block loads the x of its EHYB part into shared memory, and what it knows of a slice. Internal.
#pragma once

#include <cuda_pipeline.h>

#include "spmv/ehyb/ehyb_product.hpp"
#include "spmv/product_device.cuh"

namespace newel::detail {

/// Nodes of the halo that a thread asks for at a time: their numbers are known before the first one's x is asked for.
struct HaloNodes {
  static constexpr int count = 4;
  Index node[count];
};

/// The numbers of nodes first, first + threads, ... of the part's halo, as far as there are such.
template <class T>
__device__ __forceinline__ HaloNodes halo_nodes(const EhybView<T>& a, const EhybPart& part, int first) {
  const int halo = part.halo_end - part.halo_begin, threads = static_cast<int>(blockDim.x);
  HaloNodes nodes;
#pragma unroll
  for (int i = 0; i < HaloNodes::count; ++i) {
    const int h = first + i * threads;
    if (h < halo) nodes.node[i] = load_cached(a.halo_node + part.halo_begin + h);
  }
  return nodes;
}

/// Loads x of the part's halo, to lie in shared memory behind its own entries; the whole block. All of it is under
/// way at once, past the registers. `nodes` are those that the thread begins with.
template <class T, int B>
__device__ __forceinline__ void ask_for_halo(const EhybView<T>& a, const EhybPart& part, HaloNodes nodes, const T* x,
                                             T* cache) {
  const int own = (part.node_end - part.node_begin) * B, halo = part.halo_end - part.halo_begin;
  const int threads = static_cast<int>(blockDim.x);
  for (int first = static_cast<int>(threadIdx.x); first < halo;) {
#pragma unroll
    for (int i = 0; i < HaloNodes::count; ++i) {
      const int h = first + i * threads;
      if (h >= halo) continue;
      const Index node = nodes.node[i];
      const T* const from =
          node < a.beyond_node ? x + Offset{node} * B : a.beyond + Offset{node - a.beyond_node} * B;
#pragma unroll
      for (int e = 0; e < B; ++e) __pipeline_memcpy_async(cache + own + h * B + e, from + e, sizeof(T));
    }
    first += HaloNodes::count * threads;
    if (first < halo) nodes = halo_nodes(a, part, first);
  }
}

/// The same for its own entries, which lie in front.
template <class T, int B>
__device__ __forceinline__ void ask_for_own(const EhybPart& part, const T* x, T* cache) {
  const int own = (part.node_end - part.node_begin) * B;
  const T* own_x = x + Offset{part.node_begin} * B;
  for (int i = static_cast<int>(threadIdx.x); i < own; i += static_cast<int>(blockDim.x)) {
    __pipeline_memcpy_async(cache + i, own_x + i, sizeof(T));
  }
}

/// Both; `cache_loaded` waits for them.
template <class T, int B>
__device__ __forceinline__ void load_cache(const EhybView<T>& a, const EhybPart& part, const HaloNodes& nodes,
                                           const T* x, T* cache) {
  ask_for_halo<T, B>(a, part, nodes, x, cache);
  ask_for_own<T, B>(part, x, cache);
  __pipeline_commit();
}

__device__ __forceinline__ void cache_loaded() {
  __pipeline_wait_prior(0);
  __syncthreads();
}

/// A slice and what is left of its places.
struct EhybRun {
  Index slice, k, last;
};

template <class T>
__device__ __forceinline__ EhybRun run_of(const EhybView<T>& a, const EhybPart& part, Index slice) {
  if (slice >= part.slice_end) return {slice, 0, 0};
  return {slice, load_cached(a.slice_first + slice), load_cached(a.slice_first + slice + 1)};
}

}  // namespace newel::detail
