// SPDX-License-Identifier: Apache-2.0
// EHYB with pairs on the device: a thread block is a part; its warps take slices, and then together round after
// round.
#include <algorithm>

#include <purlin/core/shared_memory_device.hpp>
#include <purlin/spmv/ehyb/ehyb_part_device.cuh>
#include <purlin/spmv/ehyb/ehyb_places_device.cuh>
#include <purlin/spmv/ehyb_symmetric/ehyb_symmetric_product.hpp>

namespace purlin::detail {
namespace {

constexpr int warp = 32;
constexpr int compare_threads = 256;

/// The places of a round.
struct Round {
  Index first, last;
};

template <class T>
__device__ __forceinline__ Round round_of(const EhybSymmetricView<T>& a, Index r, Index end) {
  if (r >= end) return {0, 0};
  return {load_cached(a.round_first + r), load_cached(a.round_first + r + 1)};
}

/// What a thread holds of a round: one pair of each of the places that its warp takes, the two nodes in one number.
template <class T, int B, int U>
struct Pairs {
  unsigned nodes[U];
  T upper[U][B * B];
};
/// Places of a slice that a lane loads at once, by rows of a node.
constexpr int places_at_once[4] = {0, 4, 2, 1};

constexpr unsigned no_nodes = 0xffffffffu;

__device__ __forceinline__ Index place_of(Round round, int u) {
  return round.first + static_cast<Index>((threadIdx.x + u * blockDim.x) / warp);
}

/// Loads the values of the pairs and of their nodes.
template <class T, int B, int U>
__device__ __forceinline__ void load_pairs(const EhybSymmetricView<T>& a, Round round, Pairs<T, B, U>& pairs) {
  const int lane = threadIdx.x % warp;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const Index place = place_of(round, u);
    pairs.nodes[u] = no_nodes;
    if (place >= round.last) continue;
    pairs.nodes[u] = load_once(a.nodes + Offset{place} * warp + lane);
    const T* upper = a.upper + Offset{place} * (B * B * warp) + lane;
#pragma unroll
    for (int i = 0; i < B * B; ++i) pairs.upper[u][i] = load_once(upper + i * warp);
  }
}

/// Adds them to the part's y. No two of a round touch the same rows.
template <bool differs, class T, int B, int U>
__device__ __forceinline__ void add_pairs(const EhybSymmetricView<T>& a, Round round, const Pairs<T, B, U>& pairs,
                                          const T* xs, T* ys) {
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (pairs.nodes[u] == no_nodes) continue;
    const int i = static_cast<int>(pairs.nodes[u] & 0xffffu) * B, j = static_cast<int>(pairs.nodes[u] >> 16) * B;
    const T* lower = a.lower + Offset{place_of(round, u)} * (B * B * warp) + threadIdx.x % warp;
#pragma unroll
    for (int d = 0; d < B; ++d) {
      T of_row = 0, of_col = 0;
#pragma unroll
      for (int e = 0; e < B; ++e) {
        of_row += pairs.upper[u][d * B + e] * xs[j + e];
        of_col += (differs ? load_once(lower + (d * B + e) * warp) : pairs.upper[u][e * B + d]) * xs[i + e];
      }
      ys[i + d] += of_row;
      ys[j + d] += of_col;
    }
  }
}

/// All rounds of a part, the values of each loaded before those of the one before are added, its places another
/// round ahead. `first` was loaded already.
template <bool differs, class T, int B, int U>
__device__ __forceinline__ void add_rounds(const EhybSymmetricView<T>& a, Index r, Index end, Pairs<T, B, U>& first,
                                           const T* xs, T* ys) {
  Pairs<T, B, U> second;
  Round one = round_of(a, r, end), two = round_of(a, r + 1, end);
  for (; r < end; r += 2) {
    Round next = round_of(a, r + 2, end);
    load_pairs(a, two, second);
    add_pairs<differs>(a, one, first, xs, ys);
    __syncthreads();
    one = next;
    next = round_of(a, r + 3, end);
    load_pairs(a, one, first);
    add_pairs<differs>(a, two, second, xs, ys);
    __syncthreads();
    two = next;
  }
}

/// Adds the slices to the part's y, the values of each place loaded before those of the one before are added. As
/// in EHYB, but slices are a warp's by their number: they are few.
template <class T, int B>
__device__ __forceinline__ void add_slices(const EhybSymmetricView<T>& a, const EhybPart& part, const T* xs, T* ys) {
  constexpr int U = places_at_once[B];
  const int lane = threadIdx.x % warp, warps = blockDim.x / warp;
  EhybRun run = run_of(a.left, part, part.slice_begin + static_cast<Index>(threadIdx.x / warp));
  EhybRun second = run_of(a.left, part, run.slice + warps);
  EhybPlaces<T, B, U> places;
  load_places<LoadOnce>(a.left.column, a.left.value, run.k, run.last - run.k, places);
  T sums[B] = {};
  while (run.slice < part.slice_end) {
    const bool ends = run.k + U >= run.last;
    EhybPlaces<T, B, U> next;
    const Index k = ends ? second.k : run.k + U;
    load_places<LoadOnce>(a.left.column, a.left.value, k, (ends ? second.last : run.last) - k, next);
    add_places(places, run.last - run.k, xs, sums);
    places = next;
    run.k = k;
    if (!ends) continue;
    const Index node = part.node_begin + (run.slice - part.slice_begin) * warp + lane;
    const int row = node < part.node_end ? load_cached(a.node + node) * B : 0;
#pragma unroll
    for (int d = 0; d < B; ++d) {
      if (node < part.node_end) ys[row + d] += sums[d];
      sums[d] = 0;
    }
    run = second;
    second = run_of(a.left, part, run.slice + warps);
  }
}

/// A block is a part. Shared memory holds x, own entries and then the halo's, and behind them the part's y. Rounds
/// read own entries alone, so that the halo has their time to come.
template <class T, int B, bool with_dot>
__global__ void __launch_bounds__(symmetric_threads[sizeof(T) == 4][B])
    ehyb_symmetric_parts(const EhybSymmetricView<T> a, const ProductArgs<T> args, unsigned* tickets) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  constexpr int U = pairs_of_thread[B];
  const EhybPart part = a.left.part[blockIdx.x];
  const int own = (part.node_end - part.node_begin) * B, threads = static_cast<int>(blockDim.x);
  T* const xs = reinterpret_cast<T*>(shared_bytes);
  T* const ys = xs + own + (part.halo_end - part.halo_begin) * B;
  ask_for_own<T, B>(part, args.x, xs);
  __pipeline_commit();
  const Index r = a.part_round[blockIdx.x], rounds_end = a.part_round[blockIdx.x + 1];
  Pairs<T, B, U> first;
  load_pairs(a, round_of(a, r, rounds_end), first);
  ask_for_halo<T, B>(a.left, part, halo_nodes(a.left, part, static_cast<int>(threadIdx.x)), args.x, xs);
  __pipeline_commit();
  for (int i = static_cast<int>(threadIdx.x); i < own; i += threads) ys[i] = 0;
  __pipeline_wait_prior(1);
  __syncthreads();
  if (*a.differs != 0) {
    add_rounds<true>(a, r, rounds_end, first, xs, ys);
  } else {
    add_rounds<false>(a, r, rounds_end, first, xs, ys);
  }
  cache_loaded();
  add_slices<T, B>(a, part, xs, ys);
  __syncthreads();

  double dot = 0;
  for (int i = static_cast<int>(threadIdx.x); i < own; i += threads) {
    const Offset row = Offset{part.node_begin} * B + i;
    const T y = row_result(args, ys[i], row);
    args.y[row] = y;
    if (with_dot) dot += double(xs[i]) * double(y);
  }
  if (with_dot) finish_dot(dot, a.left.part_dot, tickets, args.xy);
}

/// A thread compares the values of a pair.
template <class T>
__global__ void __launch_bounds__(compare_threads)
    compare_pair_values(const EhybSymmetricView<T> a, Offset pairs, int* differs) {
  const Offset pair = Offset{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pair >= pairs) return;
  const int B = a.left.block;
  const Offset first = pair / warp * (B * B * warp) + pair % warp;
  bool equal = true;
  for (int d = 0; d < B; ++d) {
    for (int e = 0; e < B; ++e) {
      equal =
          load_once(a.upper + first + (d * B + e) * warp) == load_once(a.lower + first + (e * B + d) * warp) && equal;
    }
  }
  if (!equal) *differs = 1;
}

template <class T>
using PartsKernel = void (*)(const EhybSymmetricView<T>, const ProductArgs<T>, unsigned*);

template <class T, bool with_dot>
PartsKernel<T> parts_kernel(int block) {
  switch (block) {
    case 3:
      return ehyb_symmetric_parts<T, 3, with_dot>;
    case 2:
      return ehyb_symmetric_parts<T, 2, with_dot>;
    default:
      return ehyb_symmetric_parts<T, 1, with_dot>;
  }
}

}  // namespace

template <class T>
void ehyb_symmetric_product(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a,
                            const ProductArgs<T>& args) {
  if (a.left.rows == 0) return;
  const auto& state = ctx.state();
  const std::size_t shared_bytes = static_cast<std::size_t>(a.left.longest_cache + a.longest_own) * sizeof(T);
  const auto kernel = args.xy != nullptr ? parts_kernel<T, true>(a.left.block) : parts_kernel<T, false>(a.left.block);
  kernel<<<a.left.parts, a.left.block_threads, shared_bytes, state.stream()>>>(a, args, state.tickets());
  PURLIN_CHECK_LAUNCH();
  add_ehyb_remainder(ctx, a.left, args);
}

template <class T>
void compare_pairs(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a, Offset places, int* differs) {
  const Offset pairs = places * warp;
  PURLIN_CHECK_CUDA(cudaMemsetAsync(differs, 0, sizeof(int), ctx.state().stream()));
  if (pairs == 0) return;
  const auto blocks = static_cast<unsigned>((pairs + compare_threads - 1) / compare_threads);
  compare_pair_values<<<blocks, compare_threads, 0, ctx.state().stream()>>>(a, pairs, differs);
  PURLIN_CHECK_LAUNCH();
}

template <class T>
void prepare_ehyb_symmetric(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a) {
  for (const auto kernel : {parts_kernel<T, false>(a.left.block), parts_kernel<T, true>(a.left.block)}) {
    allow_all_shared_memory(ctx, kernel);
  }
}

#define X(T)                                                                                             \
  template void ehyb_symmetric_product(const Context<Space::device>&, const EhybSymmetricView<T>&,       \
                                       const ProductArgs<T>&);                                           \
  template void compare_pairs(const Context<Space::device>&, const EhybSymmetricView<T>&, Offset, int*); \
  template void prepare_ehyb_symmetric(const Context<Space::device>&, const EhybSymmetricView<T>&);
X(double)
X(float)
#undef X

}  // namespace purlin::detail
