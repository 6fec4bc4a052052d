// SPDX-License-Identifier: Apache-2.0
// Rounds of pairs by kernels: the pairs of all nodes, a matching of each part after the other, a warp that puts a
// round in order, and what is left as a pattern of its own.
#include "core/vectors/warp_device.cuh"
#include "spmv/ehyb_symmetric/pair_rounds.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/machine.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/memory/shared_memory_device.hpp"
#include "reorder/exclusive_sum.hpp"
#include "spmv/ehyb_symmetric/bank_order.hpp"
#include "spmv/ehyb_symmetric/pair_matching_device.cuh"

namespace newel::detail {
namespace {

constexpr Index most_degree = 65535;

// The place of column j in the row of node i, or -1.
template <class RowPtr>
__device__ __forceinline__ int place_in_row(const DeviceGraphView<RowPtr>& nodes, Index i, Index j) {
  const Offset first = nodes.first(i);
  int low = 0, high = nodes.degree(i);  // j stands in low .. high - 1
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (nodes.neighbour(first, middle) <= j) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high > low && nodes.neighbour(first, low) == j ? low : -1;
}

// A thread lists the pairs of a node; a block has nodes of part blockIdx.x.
template <class RowPtr>
__global__ void __launch_bounds__(vertex_threads) list_pairs_kernel(PairView<RowPtr> a) {
  const Index begin = a.node_begin[blockIdx.x], end = a.node_begin[blockIdx.x + 1];
  const Index step = static_cast<Index>(gridDim.y * blockDim.x);
  for (Index i = begin + static_cast<Index>(blockIdx.y * blockDim.x + threadIdx.x); i < end; i += step) {
    const Offset first = a.nodes.first(i), list = a.blocks_before(i);
    const int degree = a.nodes.degree(i);
    if (degree > most_degree) {
      atomicExch(a.refused, 1);
      a.ties[i] = 0;
      continue;
    }
    int count = 0;
    for (int k = 0; k < degree; ++k) {
      a.paired[list + k] = 0;
      const Index j = a.nodes.neighbour(first, k);
      if (j == i || j < begin || j >= end || place_in_row(a.nodes, j, i) < 0) continue;
      a.partner[list + count] = static_cast<std::uint16_t>(j - begin);
      a.slot[list + count++] = static_cast<std::uint16_t>(k);
    }
    a.ties[i] = count;
  }
}

template <class RowPtr>
__global__ void __launch_bounds__(vertex_threads)
    blocks_before_kernel(PairView<RowPtr> a, Index bounds, Offset* before) {
  for_each_vertex(bounds, [&](Index p) { before[p] = a.blocks_before(a.node_begin[p]); });
}

// A round as the next kernel finds it.
struct RoundPlace {
  Offset pair_begin;
  Index pairs;
  Index first_node;
  Index first_place;
};

// A warp has a round: its first lane orders the pairs, all of them write.
template <class RowPtr>
__global__ void __launch_bounds__(warp)
    order_rounds_kernel(PairView<RowPtr> a, const RoundPlace* rounds, const NodePair* all_pairs, Index banks,
                        std::uint32_t* nodes, Offset* upper_run, Offset* lower_run) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const RoundPlace round = rounds[blockIdx.x];
  const NodePair* const pairs = all_pairs + round.pair_begin;
  Index* const order = reinterpret_cast<Index*>(shared_bytes);
  Index* const room = order + round.pairs;
  auto* const first = reinterpret_cast<unsigned char*>(room + bank_order_room(round.pairs, banks));
  unsigned char* const second = first + round.pairs;
  for (Index k = static_cast<Index>(threadIdx.x); k < round.pairs; k += warp) {
    first[k] = static_cast<unsigned char>(pairs[k].i % banks);
    second[k] = static_cast<unsigned char>(pairs[k].j % banks);
    order[k] = k;
  }
  __syncwarp();
  if (threadIdx.x == 0 && banks > 1) {
    order_by_banks(
        round.pairs, banks, [&](Index k) { return static_cast<Index>(first[k]); },
        [&](Index k) { return static_cast<Index>(second[k]); }, room, order);
  }
  __syncwarp();
  const int block = a.nodes.block;
  const Index places = (round.pairs + warp - 1) / warp;
  for (Index k = static_cast<Index>(threadIdx.x); k < places * warp; k += warp) {
    const bool holds = k < round.pairs;
    const NodePair pair = holds ? pairs[order[k]] : NodePair{};
    const Offset at = Offset{round.first_place} * warp + k;
    nodes[at] = holds ? static_cast<std::uint32_t>(pair.i) | static_cast<std::uint32_t>(pair.j) << 16
                      : PairRounds<Space::device>::no_pair;
    const Index i = round.first_node + pair.i, j = round.first_node + pair.j;
    const Offset of_i = a.nodes.first(i), of_j = a.nodes.first(j);
    for (int d = 0; d < block; ++d) {  // rows of a node have the same length
      const Offset run = (at / warp * block + d) * warp + at % warp;
      upper_run[run] = holds ? of_i + (Offset{d} * a.nodes.degree(i) + pair.upper) * block : Offset{-1};
      lower_run[run] = holds ? of_j + (Offset{d} * a.nodes.degree(j) + pair.lower) * block : Offset{-1};
    }
  }
}

// ties[v], the pairs that were taken, become the blocks that are left.
template <class RowPtr>
__global__ void __launch_bounds__(vertex_threads) count_rest_kernel(PairView<RowPtr> a) {
  for_each_vertex(a.nodes.vertices, [&](Index v) { a.ties[v] = a.nodes.degree(v) - a.ties[v]; });
}

template <class RowPtr>
__global__ void __launch_bounds__(vertex_threads)
    rest_lengths_kernel(PairView<RowPtr> a, const Index* node, Offset* row_ptr) {
  const int block = a.nodes.block;
  for_each_vertex(a.nodes.vertices, [&](Index n) {
    for (int d = 0; d < block; ++d) row_ptr[Offset{n} * block + d] = Offset{a.ties[node[n]]} * block;
    if (n == 0) row_ptr[Offset{a.nodes.vertices} * block] = 0;
  });
}

// A thread has a row.
template <class RowPtr>
__global__ void __launch_bounds__(vertex_threads)
    fill_rest_kernel(PairView<RowPtr> a, const Index* node, const Offset* row_ptr, Index* col, Offset* position) {
  const int block = a.nodes.block;
  for_each_vertex(a.nodes.vertices * block, [&](Index row) {
    const Index v = node[row / block];
    const Offset first = a.nodes.first(v), marks = a.blocks_before(v);
    const int degree = a.nodes.degree(v), d = row % block;
    Offset to = row_ptr[row];
    for (int k = 0; k < degree; ++k) {
      if (a.paired[marks + k] != 0) continue;
      const Index j = a.nodes.neighbour(first, k);
      for (int e = 0; e < block; ++e) {
        col[to] = j * block + e;
        position[to++] = first + (Offset{d} * degree + k) * block + e;
      }
    }
  });
}

__global__ void __launch_bounds__(vertex_threads)
    point_into_kernel(const Offset* position, Offset* sources, std::int64_t size) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t k = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < size; k += step) {
    if (sources[k] >= 0) sources[k] = position[sources[k]];
  }
}

template <class RowPtr>
class DeviceSplit {
 public:
  DeviceSplit(const Context<Space::device>& ctx, const DeviceGraphView<RowPtr>& nodes, Offset nnz,
              std::vector<Index> node_begin, const PairShape& shape)
      : ctx_(ctx), nodes_(nodes), shape_(shape), node_begin_(std::move(node_begin)) {
    for (Index p = 0; p < parts(); ++p) largest_ = std::max(largest_, node_begin_[p + 1] - node_begin_[p]);
    const Offset blocks = nnz / (Offset{nodes.block} * nodes.block);
    bounds_ = make_array(ctx, node_begin_);
    partner_ = {ctx, blocks};
    slot_ = {ctx, blocks};
    paired_ = {ctx, blocks};
    ties_ = {ctx, nodes.vertices};
    refused_ = {ctx, 1};
  }

  std::optional<SplitPattern<Space::device>> run() {
    const std::size_t fits = machine_of(ctx_).cache_bytes;
    const std::size_t match_bytes = static_cast<std::size_t>(largest_) * NodeStates::bytes;
    constexpr std::size_t static_bytes = 4096;
    if (match_bytes + static_bytes > fits || order_bytes(shape_.most_pairs) > fits) return std::nullopt;
    PairView<RowPtr> a{nodes_,       bounds_.data(), partner_.data(), slot_.data(),
                       ties_.data(), paired_.data(), refused_.data()};
    NEWEL_CHECK_CUDA(cudaMemsetAsync(refused_.data(), 0, refused_.bytes(), stream()));
    const dim3 grid(static_cast<unsigned>(parts()), static_cast<unsigned>(std::clamp<Index>(
                                                        (largest_ + vertex_threads - 1) / vertex_threads, 1, 64)));
    list_pairs_kernel<<<grid, vertex_threads, 0, stream()>>>(a);
    NEWEL_CHECK_LAUNCH();
    if (fetch(ctx_, refused_.cspan().data) != 0) return std::nullopt;
    SplitPattern<Space::device> split;
    split.rounds = find_rounds(a, match_bytes);
    take_rest(a, split);
    return split;
  }

 private:
  cudaStream_t stream() const { return ctx_.state().stream(); }
  Index parts() const { return static_cast<Index>(node_begin_.size()) - 1; }

  std::size_t order_bytes(Index pairs) const {
    return static_cast<std::size_t>(pairs + bank_order_room(pairs, shape_.banks)) * sizeof(Index) +
           2 * static_cast<std::size_t>(pairs);
  }

  std::vector<Offset> blocks_before_parts(const PairView<RowPtr>& a) const {
    Array<Offset, Space::device> before(ctx_, Offset{parts()} + 1);
    blocks_before_kernel<<<vertex_blocks(ctx_, parts() + 1), vertex_threads, 0, stream()>>>(a, parts() + 1,
                                                                                            before.data());
    NEWEL_CHECK_LAUNCH();
    return to_vector(ctx_, before.cspan());
  }

  // The pairs of each round of each part; they stand in `pairs`, those of part p from pair_begin[p] on.
  std::vector<std::vector<Index>> match(const PairView<RowPtr>& a, std::size_t shared_bytes,
                                        std::vector<Offset>& pair_begin, Array<NodePair, Space::device>& pairs) {
    // A part has at most as many pairs as half its blocks, and at most as many rounds as of a quarter's size.
    std::vector<Offset> round_begin = {0};
    pair_begin = {0};
    const std::vector<Offset> before = blocks_before_parts(a);
    for (Index p = 0; p < parts(); ++p) {
      const Offset most = (before[p + 1] - before[p]) / 2;
      const Index full = std::min(shape_.most_pairs, (node_begin_[p + 1] - node_begin_[p]) / 2);
      pair_begin.push_back(pair_begin.back() + most);
      round_begin.push_back(round_begin.back() + 4 * most / std::max<Index>(full, 1) + 1);
    }
    pairs = Array<NodePair, Space::device>(ctx_, pair_begin.back());
    Array<Index, Space::device> sizes(ctx_, round_begin.back()), rounds(ctx_, parts());
    const auto pairs_from = make_array(ctx_, pair_begin), rounds_from = make_array(ctx_, round_begin);
    const MatchOut out{pairs.data(), pairs_from.data(), sizes.data(), rounds_from.data(), rounds.data()};
    const auto kernel = &match_kernel<RowPtr>;
    allow_all_shared_memory(ctx_, kernel);
    kernel<<<static_cast<unsigned>(parts()), match_threads, shared_bytes, stream()>>>(a, shape_.most_pairs, out);
    NEWEL_CHECK_LAUNCH();
    const std::vector<Index> found = to_vector(ctx_, rounds.cspan()), size = to_vector(ctx_, sizes.cspan());
    std::vector<std::vector<Index>> pairs_of_rounds(found.size());
    for (std::size_t p = 0; p < found.size(); ++p) {
      const auto first = size.begin() + round_begin[p];
      pairs_of_rounds[p].assign(first, first + found[p]);
    }
    return pairs_of_rounds;
  }

  PairRounds<Space::device> find_rounds(const PairView<RowPtr>& a, std::size_t match_bytes) {
    std::vector<Offset> pair_begin;
    Array<NodePair, Space::device> pairs;
    const std::vector<std::vector<Index>> pairs_of_rounds = match(a, match_bytes, pair_begin, pairs);
    const PairRounds<Space::host> numbered = number_rounds(host_context(ctx_), pairs_of_rounds, warp);
    const Offset places = numbered.round_first[numbered.round_first.size() - 1];
    PairRounds<Space::device> result{make_array(ctx_, numbered.part_round.cspan()),
                                     make_array(ctx_, numbered.round_first.cspan()),
                                     {ctx_, places * warp},
                                     {ctx_, places * warp * nodes_.block},
                                     {ctx_, places * warp * nodes_.block},
                                     numbered.pairs,
                                     numbered.most_places};
    std::vector<RoundPlace> rounds;
    Index most = 0;
    for (std::size_t p = 0; p < pairs_of_rounds.size(); ++p) {
      Offset from = pair_begin[p];
      for (const Index here : pairs_of_rounds[p]) {
        const Index first_place = numbered.round_first[static_cast<std::int64_t>(rounds.size())];
        rounds.push_back({from, here, node_begin_[p], first_place});
        from += here;
        most = std::max(most, here);
      }
    }
    if (rounds.empty()) return result;
    const auto there = make_array(ctx_, rounds);
    const auto kernel = &order_rounds_kernel<RowPtr>;
    allow_all_shared_memory(ctx_, kernel);
    kernel<<<static_cast<unsigned>(rounds.size()), warp, order_bytes(most), stream()>>>(
        a, there.data(), pairs.data(), shape_.banks, result.nodes.data(), result.upper_run.data(),
        result.lower_run.data());
    NEWEL_CHECK_LAUNCH();
    return result;
  }

  void take_rest(const PairView<RowPtr>& a, SplitPattern<Space::device>& split) {
    const unsigned blocks = vertex_blocks(ctx_, nodes_.vertices);
    count_rest_kernel<<<blocks, vertex_threads, 0, stream()>>>(a);
    NEWEL_CHECK_LAUNCH();
    const std::vector<Index> left = to_vector(ctx_, Span<const Index, Space::device>(a.ties, nodes_.vertices));
    const Context<Space::host> host = host_context(ctx_);
    split.node = fullest_first(host, {left.data(), static_cast<std::int64_t>(left.size())}, node_begin_);
    const auto node = make_array(ctx_, split.node);
    const Index rows = nodes_.vertices * nodes_.block;
    split.row_ptr = Array<Offset, Space::device>(ctx_, Offset{rows} + 1);
    rest_lengths_kernel<<<blocks, vertex_threads, 0, stream()>>>(a, node.data(), split.row_ptr.data());
    NEWEL_CHECK_LAUNCH();
    exclusive_sum(ctx_, split.row_ptr);
    const Offset entries = fetch(ctx_, split.row_ptr.cspan().data + rows);
    split.col = Array<Index, Space::device>(ctx_, entries);
    split.position = Array<Offset, Space::device>(ctx_, entries);
    fill_rest_kernel<<<vertex_blocks(ctx_, rows), vertex_threads, 0, stream()>>>(
        a, node.data(), split.row_ptr.data(), split.col.data(), split.position.data());
    NEWEL_CHECK_LAUNCH();
  }

  const Context<Space::device>& ctx_;
  DeviceGraphView<RowPtr> nodes_;
  PairShape shape_;
  std::vector<Index> node_begin_;  // of each part
  Index largest_ = 0;              // part: its nodes
  Array<Index, Space::device> bounds_, ties_;
  Array<std::uint16_t, Space::device> partner_, slot_;
  Array<char, Space::device> paired_;
  Array<int, Space::device> refused_;
};

}  // namespace

std::optional<SplitPattern<Space::device>> split_pairs(const Context<Space::device>& ctx,
                                                       const Pattern<Space::device>& a,
                                                       const std::vector<Index>& part_begin, int block,
                                                       const PairShape& shape) {
  if (a.rows == 0 || part_begin.size() < 2 || shape.lanes != warp) return std::nullopt;
  return with_row_ptr(a, [&](auto row_ptr) {
    return DeviceSplit(ctx, nodes_of(a, row_ptr.data, block), a.nnz(), bounds_of_nodes(part_begin, block), shape)
        .run();
  });
}

void point_into(const Context<Space::device>& ctx, Span<const Offset, Space::device> position,
                Array<Offset, Space::device>& sources) {
  if (sources.empty()) return;
  const std::int64_t blocks = (sources.size() + vertex_threads - 1) / vertex_threads;
  const auto grid = static_cast<unsigned>(std::min<std::int64_t>(blocks, std::int64_t{ctx.multiprocessors()} * 32));
  point_into_kernel<<<grid, vertex_threads, 0, ctx.state().stream()>>>(position.data, sources.data(), sources.size());
  NEWEL_CHECK_LAUNCH();
}

}  // namespace newel::detail
