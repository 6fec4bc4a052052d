// SPDX-License-Identifier: Apache-2.0
// EHYB's arrays by kernels, where every entry is cached: widths of slices and halos, one read-back by the host, the
// slots.
#include "spmv/ehyb/ehyb_layout.hpp"

#include <utility>

#include <newel/core/vector_ops.hpp>
#include "reorder/exclusive_sum.hpp"
#include "spmv/ehyb/ehyb_halos_device.cuh"
#include "spmv/ehyb/ehyb_layout_rules.hpp"

namespace newel::detail {
namespace {

constexpr int slice_threads = 256;
constexpr int slices_of_block = slice_threads / 32;

// What kernels of a layout read. A block takes slices of part blockIdx.x, a warp every one of them in turn.
template <class RowPtr>
struct LayoutView {
  DeviceGraphView<RowPtr> nodes;
  const EhybPart* part;
  int share;
  int slice_nodes;
  Index most_cached;  // nodes of a part, with its halo

  // Calls f(part, s, lane) for slices s of the part.
  template <class F>
  __device__ __forceinline__ void for_each_slice(F&& f) const {
    const EhybPart mine = part[blockIdx.x];
    const int slices = mine.slice_end - mine.slice_begin, step = static_cast<int>(gridDim.y) * slices_of_block;
    int s = static_cast<int>(blockIdx.y) * slices_of_block + static_cast<int>(threadIdx.x / 32);
    for (; s < slices; s += step) f(mine, s, static_cast<int>(threadIdx.x % 32));
  }
};

// What the host asks before it makes the arrays.
struct LayoutFound {
  Offset block_columns, halo_nodes;
  Index longest_cache;  // nodes
  int remainder;        // not 0: there would be one, and the rest is not complete
};

template <class RowPtr>
__global__ void __launch_bounds__(slice_threads)
    slice_widths_kernel(LayoutView<RowPtr> a, Offset* width, LayoutFound* found) {
  a.for_each_slice([&](const EhybPart& part, int s, int lane) {
    const int i = s * a.slice_nodes + lane;  // of the part
    const bool exists = lane < a.slice_nodes && i < part.node_end - part.node_begin;
    int widest = exists ? a.nodes.degree(part.node_begin + i) : 0;
    Offset entries = widest;
    for (int apart = 16; apart > 0; apart /= 2) {
      widest = max(widest, __shfl_xor_sync(0xffffffffu, widest, apart));
      entries += __shfl_xor_sync(0xffffffffu, entries, apart);
    }
    if (lane != 0) return;
    width[part.slice_begin + s] = (widest + a.share - 1) / a.share;
    // What reads more nodes than fit is not all cached, and would take the next kernels long.
    if (widest > a.most_cached || sticks_out(widest * a.nodes.block, a.slice_nodes, entries * a.nodes.block)) {
      atomicExch(&found->remainder, 1);
    }
  });
}

// A thread has a part: where its halo stands, and whether it fits. The sums are those of chunks and of slices.
__global__ void __launch_bounds__(vertex_threads)
    number_halos_kernel(Index parts, Index chunks, Index slices, Index most_cached, const Offset* halo_begin,
                        const Offset* slice_begin, EhybPart* part, LayoutFound* found) {
  for_each_vertex(parts, [&](Index p) {
    const Offset begin = halo_begin[Offset{p} * chunks], end = halo_begin[(Offset{p} + 1) * chunks];
    const Offset cached = part[p].node_end - part[p].node_begin + end - begin;
    part[p].halo_begin = static_cast<Index>(begin);
    part[p].halo_end = static_cast<Index>(end);
    if (cached <= most_cached) {
      atomicMax(&found->longest_cache, static_cast<Index>(cached));
    } else {
      atomicExch(&found->remainder, 1);
    }
    if (p > 0) return;
    found->halo_nodes = halo_begin[Offset{parts} * chunks];
    found->block_columns = slice_begin[slices];
  });
}

// The place of node j among those that a part caches, its own and then its halo.
__device__ __forceinline__ int place_of(const EhybPart& part, const Index* halo_node, Index j) {
  if (j >= part.node_begin && j < part.node_end) return j - part.node_begin;
  Index low = part.halo_begin, high = part.halo_end;  // j stands in low .. high - 1
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (halo_node[middle] <= j) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return part.node_end - part.node_begin + low - part.halo_begin;
}

// What the last kernel writes.
struct LayoutSlots {
  Index* slice_first;
  std::uint16_t* column;
  Offset* run_source;
};

// A lane writes its own slots of the slice.
template <class RowPtr>
__global__ void __launch_bounds__(slice_threads)
    fill_slices_kernel(LayoutView<RowPtr> a, const Offset* slice_begin, const Index* halo_node, LayoutSlots to) {
  a.for_each_slice([&](const EhybPart& part, int s, int lane) {
    const int block = a.nodes.block;
    const Offset begin = slice_begin[part.slice_begin + s], end = slice_begin[part.slice_begin + s + 1];
    const int i = s * a.slice_nodes + lane / a.share;  // of the part
    const bool exists = i < part.node_end - part.node_begin;
    const Offset first = exists ? a.nodes.first(part.node_begin + i) : 0;
    const int count = exists ? a.nodes.degree(part.node_begin + i) : 0;
    int padding = exists ? i : 0;
    if (count > 0 && (end - begin) * a.share > count) {
      padding = place_of(part, halo_node, a.nodes.neighbour(first, count - 1));
    }
    int j = lane % a.share;
    for (Offset k = begin; k < end; ++k, j += a.share) {
      const bool held = j < count;
      const int place = held ? place_of(part, halo_node, a.nodes.neighbour(first, j)) : padding;
      to.column[k * 32 + lane] = static_cast<std::uint16_t>(place);
      for (int d = 0; d < block; ++d) {  // all rows of a node have `count` blocks
        to.run_source[(k * block + d) * 32 + lane] = held ? first + (Offset{d} * count + j) * block : Offset{-1};
      }
    }
    if (lane == 0) to.slice_first[part.slice_begin + s + 1] = static_cast<Index>(end);
    if (lane == 0 && part.slice_begin + s == 0) to.slice_first[0] = 0;
  });
}

template <class V>
Array<V, Space::device> zeros(const Context<Space::device>& ctx, std::int64_t size) {
  Array<V, Space::device> array(ctx, size);
  NEWEL_CHECK_CUDA(cudaMemsetAsync(array.data(), 0, array.bytes(), ctx.state().stream()));
  return array;
}

// The parts without their halos.
std::vector<EhybPart> parts_of(const std::vector<Index>& part_begin, const EhybShape& shape) {
  std::vector<EhybPart> parts;
  EhybPart part{};
  for (std::size_t p = 0; p + 1 < part_begin.size(); ++p) {
    part.node_begin = part_begin[p] / shape.block;
    part.node_end = part_begin[p + 1] / shape.block;
    check_part(shape, part.node_begin, part.node_end);
    part.slice_begin = part.slice_end;
    part.slice_end += (part.node_end - part.node_begin + shape.slice_nodes() - 1) / shape.slice_nodes();
    parts.push_back(part);
  }
  return parts;
}

Index largest_of(const std::vector<EhybPart>& parts) {
  Index largest = 0;
  for (const EhybPart& part : parts) largest = std::max(largest, part.node_end - part.node_begin);
  return largest;
}

template <class RowPtr>
class LayoutMaker {
 public:
  LayoutMaker(const Context<Space::device>& ctx, const DeviceGraphView<RowPtr>& nodes, Index columns, Offset nnz,
              const std::vector<EhybPart>& parts, const EhybShape& shape)
      : ctx_(ctx),
        columns_(columns),
        nnz_(nnz),
        shape_(shape),
        parts_(static_cast<Index>(parts.size())),
        slices_(parts.back().slice_end),
        largest_part_(largest_of(parts)),
        part_(make_array(ctx, parts)),
        a_{nodes, part_.data(), shape.share, shape.slice_nodes(), shape.cached_length / shape.block},
        slice_begin_(zeros<Offset>(ctx, Offset{slices_} + 1)),
        found_(zeros<LayoutFound>(ctx, 1)) {}

  std::optional<EhybLayout<Space::device>> run() {
    slice_widths_kernel<<<slice_blocks(), slice_threads, 0, stream()>>>(a_, slice_begin_.data(), found_.data());
    NEWEL_CHECK_LAUNCH();
    exclusive_sum(ctx_, slice_begin_);
    EhybLayout<Space::device> layout;
    if (!find_halos(layout)) return std::nullopt;
    fill_slices(layout);
    layout.shape = shape_;
    layout.nodes = a_.nodes.vertices;
    layout.part = std::move(part_);
    layout.er_slice_first = zeros<Index>(ctx_, 1);
    layout.long_segment = zeros<Index>(ctx_, 1);
    layout.segment_begin = zeros<Offset>(ctx_, 1);
    layout.cached_entries = nnz_;
    return layout;
  }

 private:
  cudaStream_t stream() const { return ctx_.state().stream(); }
  dim3 slice_blocks() const {
    return part_blocks(ctx_, parts_, largest_part_ / (shape_.slice_nodes() * slices_of_block) + 1);
  }

  // False where there would be a remainder.
  bool find_halos(EhybLayout<Space::device>& layout) {
    HaloMaps<RowPtr> maps(ctx_, a_.nodes, columns_, parts_, largest_part_, nnz_);
    Array<Offset, Space::device> halo_begin = zeros<Offset>(ctx_, Offset{parts_} * maps.chunks() + 1);
    const int* const given_up = &found_.data()->remainder;
    maps.count(part_.data(), given_up, halo_begin.data());
    exclusive_sum(ctx_, halo_begin);
    number_halos_kernel<<<vertex_blocks(ctx_, parts_), vertex_threads, 0, stream()>>>(
        parts_, maps.chunks(), slices_, a_.most_cached, halo_begin.data(), slice_begin_.data(), part_.data(),
        found_.data());
    NEWEL_CHECK_LAUNCH();
    const LayoutFound found = fetch(ctx_, found_.cspan().data);
    if (found.remainder != 0) return false;
    layout.longest_cache = found.longest_cache * shape_.block;
    layout.block_slots = found.block_columns * shape_.lanes * shape_.block * shape_.block;
    layout.halo_node = Array<Index, Space::device>(ctx_, found.halo_nodes);
    maps.list(part_.data(), given_up, halo_begin.data(), layout.halo_node.data());
    return true;
  }

  void fill_slices(EhybLayout<Space::device>& layout) {
    layout.slice_first = Array<Index, Space::device>(ctx_, Offset{slices_} + 1);
    layout.column = Array<std::uint16_t, Space::device>(ctx_, layout.block_slots / (shape_.block * shape_.block));
    layout.run_source = Array<Offset, Space::device>(ctx_, layout.block_slots / shape_.block);
    const LayoutSlots to{layout.slice_first.data(), layout.column.data(), layout.run_source.data()};
    fill_slices_kernel<<<slice_blocks(), slice_threads, 0, stream()>>>(a_, slice_begin_.data(),
                                                                       layout.halo_node.data(), to);
    NEWEL_CHECK_LAUNCH();
  }

  const Context<Space::device>& ctx_;
  Index columns_;  // nodes
  Offset nnz_;
  EhybShape shape_;
  Index parts_, slices_;
  Index largest_part_;  // nodes
  Array<EhybPart, Space::device> part_;
  LayoutView<RowPtr> a_;
  Array<Offset, Space::device> slice_begin_;  // slices + 1: columns of slices, then their sums
  Array<LayoutFound, Space::device> found_;
};

}  // namespace

std::optional<EhybLayout<Space::device>> make_ehyb_layout(const Context<Space::device>& ctx,
                                                          const Pattern<Space::device>& a,
                                                          const std::vector<Index>& part_begin,
                                                          const EhybShape& shape) {
  if (!shape.halo || shape.lanes != 32) return std::nullopt;
  const std::vector<EhybPart> parts = parts_of(part_begin, shape);
  if (parts.empty() || a.rows == 0) return std::nullopt;
  return with_row_ptr(a, [&](auto row_ptr) {
    return LayoutMaker(ctx, nodes_of(a, row_ptr.data, shape.block), a.cols / shape.block, a.nnz(), parts, shape)
        .run();
  });
}

}  // namespace newel::detail
