// SPDX-License-Identifier: Apache-2.0
// Rounds of pairs by kernels: a block of threads takes matchings from its part, a warp puts a round in order, and
// what is left becomes a pattern of its own.
#include <purlin/spmv/ehyb_symmetric/pair_rounds.hpp>

#include <algorithm>
#include <utility>

#include <purlin/core/machine.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/reorder/exclusive_sum.hpp>
#include <purlin/reorder/graph_device.cuh>
#include <purlin/spmv/ehyb_symmetric/bank_order.hpp>
#include <purlin/spmv/ehyb_symmetric/pair_matchings.hpp>

namespace purlin::detail {
namespace {

constexpr int warp = 32;
constexpr int match_threads = 1024;
constexpr int match_passes = 16;  // of choices for a round; few are left to choose after ten
constexpr int weight_bins = 512;  // pairs that both nodes of a pair have left, together
constexpr Index most_degree = 65535;

// The pattern in parts, and the room of what is found: lists of nodes stand where their blocks stand.
template <class RowPtr>
struct PairView {
  DeviceGraphView<RowPtr> nodes;
  const Index* part_begin;  // nodes
  std::uint16_t* partner;   // of each block that has an opposite in the part: its column within the part
  std::uint16_t* slot;      // and its place in the row
  Index* ties;              // of each node: how many there are; then how many rounds took, then blocks left
  char* paired;             // of each block: 1 where a round has it
  int* refused;

  __device__ Offset blocks_before(Index v) const { return nodes.first(v) / (Offset{nodes.block} * nodes.block); }
};

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
  const Index begin = a.part_begin[blockIdx.x], end = a.part_begin[blockIdx.x + 1];
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
  for_each_vertex(bounds, [&](Index p) { before[p] = a.blocks_before(a.part_begin[p]); });
}

// What a block of threads knows of its part's nodes, in shared memory.
struct NodeStates {
  std::uint16_t* left;     // pairs that are in no round yet: the length of the node's list
  std::uint16_t* partner;  // whom the node has chosen
  std::uint16_t* chosen;   // as which of its list; `nobody` where there is none
  unsigned char* matched;

  static constexpr int bytes = 3 * sizeof(std::uint16_t) + 1;
  static constexpr std::uint16_t nobody = 0xffff;

  __device__ NodeStates(unsigned char* base, Index nodes)
      : left(reinterpret_cast<std::uint16_t*>(base)),
        partner(left + nodes),
        chosen(partner + nodes),
        matched(reinterpret_cast<unsigned char*>(chosen + nodes)) {}
};

// The free partner to whom both ends give the highest number: by the pairs that the fuller of them has left, then by
// the other's, then by chance.
template <class RowPtr>
__device__ __forceinline__ void choose(const PairView<RowPtr>& a, Offset list, Index v, unsigned round,
                                       const NodeStates& state) {
  state.chosen[v] = NodeStates::nobody;
  unsigned long long most = 0;
  const unsigned own = state.left[v];
  for (unsigned k = 0; k < own; ++k) {
    const unsigned u = a.partner[list + k];
    if (state.matched[u] != 0) continue;
    const unsigned other = state.left[u];
    const unsigned chance =
        mixed((min(static_cast<unsigned>(v), u) << 16 | max(static_cast<unsigned>(v), u)) + 0x9e3779b9u * round);
    const unsigned long long value = static_cast<unsigned long long>(max(own, other)) << 48 |
                                     static_cast<unsigned long long>(min(own, other)) << 32 | chance;
    if (state.chosen[v] != NodeStates::nobody && value <= most) continue;
    most = value;
    state.partner[v] = static_cast<std::uint16_t>(u);
    state.chosen[v] = static_cast<std::uint16_t>(k);
  }
}

// Matches nodes of the part, until no two choose each other any more: `matched` says which.
template <class RowPtr>
__device__ void match_nodes(const PairView<RowPtr>& a, Index begin, Index nodes, unsigned round,
                            const NodeStates& state, int* any) {
  const auto threads = static_cast<Index>(blockDim.x), thread = static_cast<Index>(threadIdx.x);
  for (Index v = thread; v < nodes; v += threads) state.matched[v] = 0;
  __syncthreads();
  for (int pass = 0; pass < match_passes; ++pass) {
    if (thread == 0) *any = 0;
    for (Index v = thread; v < nodes; v += threads) {
      if (state.matched[v] != 0) continue;
      if (pass > 0 && (state.chosen[v] == NodeStates::nobody || state.matched[state.partner[v]] == 0)) continue;
      choose(a, a.blocks_before(begin + v), v, round, state);
    }
    __syncthreads();
    for (Index v = thread; v < nodes; v += threads) {
      // The first node's thread writes both marks; it alone reads its own.
      if (state.chosen[v] == NodeStates::nobody || v > static_cast<Index>(state.partner[v])) continue;
      const Index u = state.partner[v];
      if (state.matched[v] != 0 || state.chosen[u] == NodeStates::nobody || state.partner[u] != v) continue;
      state.matched[v] = state.matched[u] = 1;
      atomicExch(any, 1);
    }
    __syncthreads();
    const bool found = *any != 0;
    __syncthreads();
    if (!found) break;
  }
}

// How many of the pairs found go into the round: all heavier than `weight`, and `of_weight` of those as heavy, in
// their order.
struct Cap {
  int weight = -1;
  Index of_weight = 0;
};

__device__ __forceinline__ int weight_of(const NodeStates& state, Index v) {
  return min(state.left[v] + state.left[state.partner[v]], weight_bins - 1);
}

__device__ __forceinline__ bool begins_pair(const NodeStates& state, Index v) {
  return state.matched[v] != 0 && v < static_cast<Index>(state.partner[v]);
}

// Counts the pairs by weight in `bins`; where they are more than `most`, the cap. For all threads alike.
__device__ Cap cap_of(Index nodes, Index most, const NodeStates& state, int* bins, Index& found) {
  const auto threads = static_cast<Index>(blockDim.x), thread = static_cast<Index>(threadIdx.x);
  for (Index b = thread; b < weight_bins; b += threads) bins[b] = 0;
  __syncthreads();
  for (Index v = thread; v < nodes; v += threads) {
    if (begins_pair(state, v)) atomicAdd(bins + weight_of(state, v), 1);
  }
  __syncthreads();
  Cap cap;
  found = 0;
  for (int b = weight_bins - 1; b >= 0; --b) {
    if (found <= most && found + bins[b] > most) cap = {b, most - found};
    found += bins[b];
  }
  __syncthreads();
  return cap;
}

// A thread's place among those before it with a flag, and how many there are in all. `sums` has a place for each
// warp.
__device__ __forceinline__ int place_among(bool flag, int* sums, int& all) {
  const int lane = static_cast<int>(threadIdx.x % warp), mine = static_cast<int>(threadIdx.x / warp);
  const unsigned flags = __ballot_sync(0xffffffffu, flag);
  __syncthreads();
  if (lane == 0) sums[mine] = __popc(flags);
  __syncthreads();
  int before = __popc(flags & ((1u << lane) - 1));
  all = 0;
  for (int w = 0; w < static_cast<int>(blockDim.x) / warp; ++w) {
    if (w < mine) before += sums[w];
    all += sums[w];
  }
  return before;
}

// Takes pair `chosen` from the node's list, and the last one takes its place.
template <class RowPtr>
__device__ __forceinline__ Index take(const PairView<RowPtr>& a, Offset list, Index v, const NodeStates& state) {
  const Offset at = list + state.chosen[v], last = list + --state.left[v];
  const Index slot = a.slot[at];
  a.partner[at] = a.partner[last];
  a.slot[at] = a.slot[last];
  a.paired[list + slot] = 1;
  return slot;
}

// Where a part's pairs and the sizes of its rounds go.
struct MatchOut {
  NodePair* pairs;            // those of part p from pair_begin[p] on
  const Offset* pair_begin;   // parts + 1
  Index* sizes;               // pairs of the rounds, from round_begin[p] on
  const Offset* round_begin;  // parts + 1
  Index* rounds;              // of a part
};

// A block takes rounds from its part.
template <class RowPtr>
__global__ void __launch_bounds__(match_threads) match_kernel(PairView<RowPtr> a, Index most_pairs, MatchOut out) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ int bins[weight_bins];
  __shared__ int sums[match_threads / warp];
  __shared__ int any;
  const auto p = static_cast<Index>(blockIdx.x);
  const Index begin = a.part_begin[p], nodes = a.part_begin[p + 1] - begin;
  const auto threads = static_cast<Index>(blockDim.x), thread = static_cast<Index>(threadIdx.x);
  const NodeStates state(shared_bytes, nodes);
  for (Index v = thread; v < nodes; v += threads) state.left[v] = static_cast<std::uint16_t>(a.ties[begin + v]);
  const Index full = min(most_pairs, nodes / 2);
  NodePair* to = out.pairs + out.pair_begin[p];
  Index round = 0;
  for (const Offset most_rounds = out.round_begin[p + 1] - out.round_begin[p]; round < most_rounds; ++round) {
    match_nodes(a, begin, nodes, static_cast<unsigned>(round), state, &any);
    Index found = 0;
    const Cap cap = cap_of(nodes, most_pairs, state, bins, found);
    const Index taken = min(found, most_pairs);
    if (taken == 0 || 4 * taken < full) break;
    int heavier = 0, as_heavy = 0;  // of the nodes before
    for (Index base = 0; base < nodes; base += threads) {
      const Index v = base + thread;
      const bool begins = v < nodes && begins_pair(state, v);
      const int weight = begins ? weight_of(state, v) : 0;
      int all_heavier = 0, all_as_heavy = 0;
      const int place = heavier + place_among(begins && weight > cap.weight, sums, all_heavier);
      const int equal = as_heavy + place_among(begins && weight == cap.weight, sums, all_as_heavy);
      if (begins && (weight > cap.weight || (weight == cap.weight && equal < cap.of_weight))) {
        const Index u = state.partner[v];
        const Index upper = take(a, a.blocks_before(begin + v), v, state);
        const Index lower = take(a, a.blocks_before(begin + u), u, state);
        to[place + min(equal, cap.of_weight)] = {v, u, upper, lower};
      }
      heavier += all_heavier;
      as_heavy += all_as_heavy;
    }
    to += taken;
    if (thread == 0) out.sizes[out.round_begin[p] + round] = taken;
    __syncthreads();
  }
  if (thread == 0) out.rounds[p] = round;
  for (Index v = thread; v < nodes; v += threads) a.ties[begin + v] -= state.left[v];
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

template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  PURLIN_CHECK_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

template <class RowPtr>
class DeviceSplit {
 public:
  DeviceSplit(const Context<Space::device>& ctx, const DeviceGraphView<RowPtr>& nodes, Offset nnz,
              const std::vector<Index>& part_begin, const PairShape& shape)
      : ctx_(ctx), nodes_(nodes), shape_(shape), part_begin_(part_begin) {
    for (Index& begin : part_begin_) begin /= nodes.block;
    for (Index p = 0; p < parts(); ++p) largest_ = std::max(largest_, part_begin_[p + 1] - part_begin_[p]);
    const Offset blocks = nnz / (Offset{nodes.block} * nodes.block);
    bounds_ = make_array(ctx, part_begin_);
    partner_ = {ctx, blocks};
    slot_ = {ctx, blocks};
    paired_ = {ctx, blocks};
    ties_ = {ctx, nodes.vertices};
    refused_ = {ctx, 1};
  }

  std::optional<SplitPattern<Space::device>> run(const std::vector<Index>& part_begin) {
    const std::size_t fits = machine_of(ctx_).cache_bytes;
    const std::size_t match_bytes = static_cast<std::size_t>(largest_) * NodeStates::bytes;
    constexpr std::size_t static_bytes = 4096;
    if (match_bytes + static_bytes > fits || order_bytes(shape_.most_pairs) > fits) return std::nullopt;
    PairView<RowPtr> a{nodes_,       bounds_.data(), partner_.data(), slot_.data(),
                       ties_.data(), paired_.data(), refused_.data()};
    PURLIN_CHECK_CUDA(cudaMemsetAsync(refused_.data(), 0, refused_.bytes(), stream()));
    const dim3 grid(static_cast<unsigned>(parts()), static_cast<unsigned>(std::clamp<Index>(
                                                        (largest_ + vertex_threads - 1) / vertex_threads, 1, 64)));
    list_pairs_kernel<<<grid, vertex_threads, 0, stream()>>>(a);
    PURLIN_CHECK_LAUNCH();
    if (fetch(ctx_, refused_.cspan().data) != 0) return std::nullopt;
    SplitPattern<Space::device> split;
    split.rounds = find_rounds(a, match_bytes);
    take_rest(a, part_begin, split);
    return split;
  }

 private:
  cudaStream_t stream() const { return ctx_.state().stream(); }
  Index parts() const { return static_cast<Index>(part_begin_.size()) - 1; }

  std::size_t order_bytes(Index pairs) const {
    return static_cast<std::size_t>(pairs + bank_order_room(pairs, shape_.banks)) * sizeof(Index) +
           2 * static_cast<std::size_t>(pairs);
  }

  std::vector<Offset> blocks_before_parts(const PairView<RowPtr>& a) const {
    Array<Offset, Space::device> before(ctx_, Offset{parts()} + 1);
    blocks_before_kernel<<<vertex_blocks(ctx_, parts() + 1), vertex_threads, 0, stream()>>>(a, parts() + 1,
                                                                                            before.data());
    PURLIN_CHECK_LAUNCH();
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
      const Index full = std::min(shape_.most_pairs, (part_begin_[p + 1] - part_begin_[p]) / 2);
      pair_begin.push_back(pair_begin.back() + most);
      round_begin.push_back(round_begin.back() + 4 * most / std::max<Index>(full, 1) + 1);
    }
    pairs = Array<NodePair, Space::device>(ctx_, pair_begin.back());
    Array<Index, Space::device> sizes(ctx_, round_begin.back()), rounds(ctx_, parts());
    const auto pairs_from = make_array(ctx_, pair_begin), rounds_from = make_array(ctx_, round_begin);
    const MatchOut out{pairs.data(), pairs_from.data(), sizes.data(), rounds_from.data(), rounds.data()};
    const auto kernel = &match_kernel<RowPtr>;
    allow_shared(kernel, shared_bytes);
    kernel<<<static_cast<unsigned>(parts()), match_threads, shared_bytes, stream()>>>(a, shape_.most_pairs, out);
    PURLIN_CHECK_LAUNCH();
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
        rounds.push_back({from, here, part_begin_[p], first_place});
        from += here;
        most = std::max(most, here);
      }
    }
    if (rounds.empty()) return result;
    const auto there = make_array(ctx_, rounds);
    const auto kernel = &order_rounds_kernel<RowPtr>;
    allow_shared(kernel, order_bytes(most));
    kernel<<<static_cast<unsigned>(rounds.size()), warp, order_bytes(most), stream()>>>(
        a, there.data(), pairs.data(), shape_.banks, result.nodes.data(), result.upper_run.data(),
        result.lower_run.data());
    PURLIN_CHECK_LAUNCH();
    return result;
  }

  void take_rest(const PairView<RowPtr>& a, const std::vector<Index>& part_begin,
                 SplitPattern<Space::device>& split) {
    const unsigned blocks = vertex_blocks(ctx_, nodes_.vertices);
    count_rest_kernel<<<blocks, vertex_threads, 0, stream()>>>(a);
    PURLIN_CHECK_LAUNCH();
    const std::vector<Index> left = to_vector(ctx_, Span<const Index, Space::device>(a.ties, nodes_.vertices));
    const Context<Space::host> host = host_context(ctx_);
    split.node = fullest_first(host, {left.data(), static_cast<std::int64_t>(left.size())}, part_begin, nodes_.block);
    const auto node = make_array(ctx_, split.node);
    const Index rows = nodes_.vertices * nodes_.block;
    split.row_ptr = Array<Offset, Space::device>(ctx_, Offset{rows} + 1);
    rest_lengths_kernel<<<blocks, vertex_threads, 0, stream()>>>(a, node.data(), split.row_ptr.data());
    PURLIN_CHECK_LAUNCH();
    exclusive_sum(ctx_, split.row_ptr);
    const Offset entries = fetch(ctx_, split.row_ptr.cspan().data + rows);
    split.col = Array<Index, Space::device>(ctx_, entries);
    split.position = Array<Offset, Space::device>(ctx_, entries);
    fill_rest_kernel<<<vertex_blocks(ctx_, rows), vertex_threads, 0, stream()>>>(
        a, node.data(), split.row_ptr.data(), split.col.data(), split.position.data());
    PURLIN_CHECK_LAUNCH();
  }

  const Context<Space::device>& ctx_;
  DeviceGraphView<RowPtr> nodes_;
  PairShape shape_;
  std::vector<Index> part_begin_;  // nodes
  Index largest_ = 0;              // of them
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
    const DeviceGraphView<std::remove_const_t<std::remove_pointer_t<decltype(row_ptr.data)>>> nodes{
        a.rows / block, block, row_ptr.data, a.col.data, nullptr, nullptr};
    return DeviceSplit(ctx, nodes, a.nnz(), part_begin, shape).run(part_begin);
  });
}

void point_into(const Context<Space::device>& ctx, Span<const Offset, Space::device> position,
                Array<Offset, Space::device>& sources) {
  if (sources.empty()) return;
  const std::int64_t blocks = (sources.size() + vertex_threads - 1) / vertex_threads;
  const auto grid = static_cast<unsigned>(std::min<std::int64_t>(blocks, std::int64_t{ctx.multiprocessors()} * 32));
  point_into_kernel<<<grid, vertex_threads, 0, ctx.state().stream()>>>(position.data, sources.data(), sources.size());
  PURLIN_CHECK_LAUNCH();
}

}  // namespace purlin::detail
