// SPDX-License-Identifier: Apache-2.0
/// The halos of EHYB's parts, found as bitmaps: a part's holds a bit for each node, set where the part reads it from
/// outside. Nodes come out of it once and in ascending order, in whatever order threads set the bits. Internal.
#pragma once

#include <algorithm>

#include "reorder/graph_device.cuh"
#include "spmv/ehyb/ehyb_layout.hpp"

namespace newel::detail {

struct HaloTuning {
  static constexpr int threads = 256;
  static constexpr int warps = threads / 32;
  static constexpr int lanes_of_node = 8;  // that look for its columns outside
  static constexpr int nodes_of_block = threads / lanes_of_node;
  static constexpr int chunk_words = 512;  // of 32 nodes: a warp's share of a bitmap
  static constexpr int blocks_per_processor = 16;
};

/// Bitmaps of some of the parts, each of whole chunks.
struct HaloBits {
  unsigned* word;
  Index first_part, parts;
  Index chunks;  ///< of a part

  __device__ std::int64_t all_chunks() const { return std::int64_t{parts} * chunks; }
  __device__ unsigned* of_chunk(std::int64_t chunk) const { return word + chunk * HaloTuning::chunk_words; }
};

/// Blocks for parts of at most `pieces` each, in x for the parts and in y for what a part's blocks take in turn.
inline dim3 part_blocks(const Context<Space::device>& ctx, Index parts, std::int64_t pieces) {
  const std::int64_t most = std::int64_t{ctx.multiprocessors()} * HaloTuning::blocks_per_processor / parts;
  const auto blocks = std::clamp<std::int64_t>(pieces, 1, std::max<std::int64_t>(1, most));
  return dim3(static_cast<unsigned>(parts), static_cast<unsigned>(blocks));
}

/// A few neighbouring lanes have a node; its columns outside the part become bits. None where `given_up` is not 0.
template <class RowPtr>
__global__ void __launch_bounds__(HaloTuning::threads)
    mark_halos_kernel(DeviceGraphView<RowPtr> nodes, const EhybPart* parts, HaloBits bits, const int* given_up) {
  constexpr int lanes = HaloTuning::lanes_of_node;
  if (*given_up != 0) return;
  const EhybPart part = parts[bits.first_part + static_cast<Index>(blockIdx.x)];
  unsigned* const word = bits.of_chunk(std::int64_t{blockIdx.x} * bits.chunks);
  const int lane = static_cast<int>(threadIdx.x) % lanes, own = part.node_end - part.node_begin;
  const int step = static_cast<int>(gridDim.y) * HaloTuning::nodes_of_block;
  int i = static_cast<int>(blockIdx.y) * HaloTuning::nodes_of_block + static_cast<int>(threadIdx.x) / lanes;
  for (; i < own; i += step) {
    const Offset first = nodes.first(part.node_begin + i);
    const int degree = nodes.degree(part.node_begin + i);
    for (int k = lane; k < degree; k += lanes) {
      const Index j = nodes.neighbour(first, k);
      if (j < part.node_begin || j >= part.node_end) atomicOr(word + j / 32, 1u << (j % 32));
    }
  }
}

/// A warp has a chunk: counts[chunk] becomes the bits that are set.
inline __global__ void __launch_bounds__(HaloTuning::threads) count_halos_kernel(HaloBits bits, Offset* counts) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t step = std::int64_t{gridDim.x} * HaloTuning::warps;
  std::int64_t chunk = std::int64_t{blockIdx.x} * HaloTuning::warps + threadIdx.x / 32;
  for (; chunk < bits.all_chunks(); chunk += step) {
    const unsigned* const word = bits.of_chunk(chunk) + lane;
    int count = 0;
#pragma unroll 8
    for (int w = 0; w < HaloTuning::chunk_words; w += 32) count += __popc(word[w]);
    for (int apart = 16; apart > 0; apart /= 2) count += __shfl_xor_sync(0xffffffffu, count, apart);
    if (lane == 0) counts[chunk] = count;
  }
}

/// A warp has a chunk, whose nodes stand from begin[chunk] on.
inline __global__ void __launch_bounds__(HaloTuning::threads)
    list_halos_kernel(HaloBits bits, const Offset* begin, Index* halo_node) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t step = std::int64_t{gridDim.x} * HaloTuning::warps;
  std::int64_t chunk = std::int64_t{blockIdx.x} * HaloTuning::warps + threadIdx.x / 32;
  for (; chunk < bits.all_chunks(); chunk += step) {
    Offset done = begin[chunk];
    if (done == begin[chunk + 1]) continue;
    const unsigned* const word = bits.of_chunk(chunk) + lane;
    const Index first_word = static_cast<Index>(chunk % bits.chunks) * HaloTuning::chunk_words + lane;
    for (int w = 0; w < HaloTuning::chunk_words; w += 32) {
      unsigned left = word[w];
      const int own = __popc(left);
      int up_to = own;
      for (int apart = 1; apart < 32; apart *= 2) {
        const int below = __shfl_up_sync(0xffffffffu, up_to, apart);
        if (lane >= apart) up_to += below;
      }
      for (Offset at = done + up_to - own; left != 0; left &= left - 1) {
        halo_node[at++] = (first_word + w) * 32 + __ffs(static_cast<int>(left)) - 1;
      }
      done += __shfl_sync(0xffffffffu, up_to, 31);
    }
  }
}

/// The bitmaps of all parts where they take no more than the values of the matrix, which are not there yet; else of
/// some parts after the other, marked twice.
template <class RowPtr>
class HaloMaps {
 public:
  /// `columns`: nodes that may be read.
  HaloMaps(const Context<Space::device>& ctx, const DeviceGraphView<RowPtr>& nodes, Index columns, Index parts,
           Index largest_part, Offset nnz)
      : ctx_(ctx), nodes_(nodes), parts_(parts), largest_part_(largest_part) {
    constexpr Index chunk_nodes = 32 * HaloTuning::chunk_words;
    chunks_ = (columns - 1) / chunk_nodes + 1;
    const std::int64_t words = std::int64_t{chunks_} * HaloTuning::chunk_words;
    at_once_ = static_cast<Index>(std::clamp<std::int64_t>(2 * nnz / words, 1, parts));
    word_ = Array<unsigned, Space::device>(ctx, at_once_ * words);
  }

  Index chunks() const { return chunks_; }

  /// counts[p chunks() + c] becomes what part p reads from outside in chunk c of the nodes; all 0 where `given_up` is
  /// not 0 on the device.
  void count(const EhybPart* parts, const int* given_up, Offset* counts) {
    for_each_bits(parts, given_up, [&](const HaloBits& bits, std::int64_t first) {
      count_halos_kernel<<<chunk_blocks(bits), HaloTuning::threads, 0, stream()>>>(bits, counts + first);
      NEWEL_CHECK_LAUNCH();
    });
  }

  /// Writes these nodes, for the sums of those counts.
  void list(const EhybPart* parts, const int* given_up, const Offset* begin, Index* halo_node) {
    for_each_bits(parts, given_up, [&](const HaloBits& bits, std::int64_t first) {
      list_halos_kernel<<<chunk_blocks(bits), HaloTuning::threads, 0, stream()>>>(bits, begin + first, halo_node);
      NEWEL_CHECK_LAUNCH();
    });
  }

 private:
  cudaStream_t stream() const { return ctx_.state().stream(); }

  unsigned chunk_blocks(const HaloBits& bits) const {
    const std::int64_t wanted = (std::int64_t{bits.parts} * chunks_ + HaloTuning::warps - 1) / HaloTuning::warps;
    const std::int64_t most = std::int64_t{ctx_.multiprocessors()} * HaloTuning::blocks_per_processor;
    return static_cast<unsigned>(std::min(wanted, most));
  }

  // Calls f(bits, their first chunk); marks those that are not there.
  template <class F>
  void for_each_bits(const EhybPart* parts, const int* given_up, F&& f) {
    for (Index p = 0; p < parts_; p += at_once_) {
      const HaloBits bits{word_.data(), p, std::min(at_once_, parts_ - p), chunks_};
      if (marked_ != p) {
        NEWEL_CHECK_CUDA(cudaMemsetAsync(word_.data(), 0, word_.bytes(), stream()));
        const dim3 blocks = part_blocks(ctx_, bits.parts, (largest_part_ - 1) / HaloTuning::nodes_of_block + 1);
        mark_halos_kernel<<<blocks, HaloTuning::threads, 0, stream()>>>(nodes_, parts, bits, given_up);
        NEWEL_CHECK_LAUNCH();
        marked_ = p;
      }
      f(bits, std::int64_t{p} * chunks_);
    }
  }

  const Context<Space::device>& ctx_;
  DeviceGraphView<RowPtr> nodes_;
  Index parts_, largest_part_;  // of these the nodes
  Index chunks_ = 0;            // of a part
  Index at_once_ = 0;           // parts that have bits
  Index marked_ = -1;           // the first of them
  Array<unsigned, Space::device> word_;
};

}  // namespace newel::detail
