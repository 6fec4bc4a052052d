// SPDX-License-Identifier: Apache-2.0
/// A graph as kernels of the partitioner read it: a pattern of node blocks as it stands, or a coarse graph. Internal.
#pragma once

#include "core/memory/context_device.hpp"
#include "reorder/partition_device.hpp"

namespace newel::detail {

/// Vertex v has the neighbours at first(v) + k block, k = 0 .. degree(v) - 1, itself perhaps among them. With a
/// block, a vertex is a node of a pattern that consists of full aligned blocks; weights are then 1.
template <class RowPtr>
struct DeviceGraphView {
  Index vertices = 0;
  int block = 1;
  const RowPtr* begin = nullptr;
  const Index* column = nullptr;
  const Index* edges = nullptr;  ///< weights; null: all 1
  const Index* nodes = nullptr;  ///< weights of vertices; null: all 1

  __device__ Offset first(Index v) const { return begin[v * block]; }
  __device__ int degree(Index v) const { return static_cast<int>((begin[v * block + 1] - begin[v * block]) / block); }
  __device__ Index neighbour(Offset first, int k) const { return column[first + Offset{k} * block] / block; }
  __device__ Index edge(Offset first, int k) const { return edges == nullptr ? 1 : edges[first + k]; }
  __device__ Index weight(Index v) const { return nodes == nullptr ? 1 : nodes[v]; }
};

/// The nodes of `block` rows of a pattern of full aligned blocks.
template <class RowPtr>
DeviceGraphView<RowPtr> nodes_of(const Pattern<Space::device>& a, const RowPtr* row_ptr, int block) {
  return {a.rows / block, block, row_ptr, a.col.data, nullptr, nullptr};
}

inline DeviceGraphView<Offset> view_of(const DeviceGraph& g) {
  return {g.vertices, 1, g.begin.data(), g.neighbour.data(), g.edge_weight.data(), g.vertex_weight.data()};
}

inline constexpr int vertex_threads = 256;

/// Blocks of `vertex_threads` with a thread for each vertex, at most as many as keep the device busy: grids go round.
inline unsigned vertex_blocks(const Context<Space::device>& ctx, Index vertices) {
  return blocks_to_share(ctx, vertices, vertex_threads, 32);
}

/// Calls f(v) for every vertex, a thread each.
template <class F>
__device__ __forceinline__ void for_each_vertex(Index vertices, F&& f) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t v = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; v < vertices; v += step) {
    f(static_cast<Index>(v));
  }
}

/// A number that looks random; different for each value (the finaliser of MurmurHash3, A. Appleby).
__device__ __forceinline__ std::uint32_t mixed(std::uint32_t h) {
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

}  // namespace newel::detail
