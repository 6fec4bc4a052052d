// SPDX-License-Identifier: Apache-2.0
// EHYB with pairs on the device: a thread block is a part; its warps take rounds of pairs in turns, and slices in
// between.
#include <algorithm>

#include "core/vectors/warp_device.cuh"
#include "core/vectors/overlapped_launch_device.cuh"
#include "core/memory/shared_memory_device.hpp"
#include "spmv/ehyb/ehyb_part_device.cuh"
#include "spmv/ehyb/ehyb_places_device.cuh"
#include "spmv/ehyb_symmetric/ehyb_symmetric_product.hpp"

namespace newel::detail {
namespace {

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

/// The first of the round's places that the warp takes, or a later one. Warps of a group take different places.
template <class T>
__device__ __forceinline__ Index place_of(const EhybSymmetricView<T>& a, Round round, int u) {
  return round.first + static_cast<Index>(threadIdx.x / warp) % a.group_warps + u * a.group_warps;
}

/// Loads the values of the pairs and of their nodes.
template <class T, int B, int U>
__device__ __forceinline__ void load_pairs(const EhybSymmetricView<T>& a, Round round, const LoadKept& load,
                                           Pairs<T, B, U>& pairs) {
  const int lane = threadIdx.x % warp;
#pragma unroll
  for (int u = 0; u < U; ++u) {
    const Index place = place_of(a, round, u);
    pairs.nodes[u] = no_nodes;
    if (place >= round.last) continue;
    pairs.nodes[u] = load(a.nodes + Offset{place} * warp + lane);
    const T* upper = a.upper + Offset{place} * (B * B * warp) + lane;
#pragma unroll
    for (int i = 0; i < B * B; ++i) pairs.upper[u][i] = load(upper + i * warp);
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
    const T* lower = a.lower + Offset{place_of(a, round, u)} * (B * B * warp) + threadIdx.x % warp;
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

/// The rounds of a part that a warp's group takes, which are every so manieth, as there are groups. The values of the
/// next `held` of them are loaded.
template <class T, int B, int held>
class RoundWalk {
 public:
  /// Warps in excess of whole groups take no round.
  __device__ __forceinline__ RoundWalk(const EhybSymmetricView<T>& a, Index first, Index end) : a_(a) {
    const int group = static_cast<int>(threadIdx.x) / warp / a.group_warps;
    end_ = group < a.groups ? end : first;
    mine_ = first + group;
#pragma unroll
    for (int h = 0; h < held; ++h) round_[h] = round_of(a, mine_ + h * a.groups, end_);
    next_ = round_of(a, mine_ + held * a.groups, end_);
  }
  __device__ __forceinline__ void load(const LoadKept& load) {
#pragma unroll
    for (int h = 0; h < held; ++h) load_pairs(a_, round_[h], load, pairs_[h]);
  }
  /// Adds round r where it is one of the warp's, and loads another.
  template <bool differs>
  __device__ __forceinline__ void add(Index r, const T* xs, T* ys, const LoadKept& load) {
    if (r != mine_) return;
    if (held == 1 || !second_) {
      replace<differs, 0>(xs, ys, load);
    } else {
      replace<differs, held - 1>(xs, ys, load);
    }
    second_ = !second_;
    mine_ += a_.groups;
    next_ = round_of(a_, mine_ + held * a_.groups, end_);
  }

 private:
  static constexpr int U = pairs_of_thread[B];

  template <bool differs, int h>
  __device__ __forceinline__ void replace(const T* xs, T* ys, const LoadKept& load) {
    add_pairs<differs>(a_, round_[h], pairs_[h], xs, ys);
    round_[h] = next_;
    load_pairs(a_, round_[h], load, pairs_[h]);
  }

  const EhybSymmetricView<T>& a_;
  Index mine_, end_;
  Round round_[held], next_;
  Pairs<T, B, U> pairs_[held];
  bool second_ = false;
};

/// The slices of a warp, a few places at a time. Slices are a warp's by their number; the first ones, which are the
/// widest, are those of the last warps, which may have no round.
template <class T, int B>
class SliceWalk {
 public:
  __device__ __forceinline__ SliceWalk(const EhybSymmetricView<T>& a, const EhybPart& part) : a_(a), part_(part) {
    const Index warps = blockDim.x / warp;
    run_ = run_of(a.left, part, part.slice_begin + warps - 1 - static_cast<Index>(threadIdx.x / warp));
    second_ = run_of(a.left, part, run_.slice + warps);
  }
  __device__ __forceinline__ void load(const LoadKept& load) { load_places_at(run_.k, run_.last, load, places_); }
  /// Adds the places that are loaded, and then loads the next ones.
  __device__ __forceinline__ void step(const T* xs, T* to, const LoadKept& from) {
    if (run_.slice >= part_.slice_end) return;
    add_places(places_, run_.last - run_.k, xs, sums_);
    run_.k += U;
    const bool ends = run_.k >= run_.last;
    load_places_at(ends ? second_.k : run_.k, ends ? second_.last : run_.last, from, places_);
    if (ends) next_slice(to);
  }
  /// Adds all that are left, each batch of places loaded before the one in front of it is added.
  __device__ __forceinline__ void finish(const T* xs, T* to, const LoadKept& from) {
    while (run_.slice < part_.slice_end) {
      const bool ends = run_.k + U >= run_.last;
      EhybPlaces<T, B, U> next;
      load_places_at(ends ? second_.k : run_.k + U, ends ? second_.last : run_.last, from, next);
      add_places(places_, run_.last - run_.k, xs, sums_);
      places_ = next;
      run_.k += U;
      if (ends) next_slice(to);
    }
  }

 private:
  static constexpr int U = places_at_once[B];

  __device__ __forceinline__ void load_places_at(Index k, Index last, const LoadKept& load,
                                                 EhybPlaces<T, B, U>& places) const {
    load_places(a_.left.column, a_.left.value, k, last - k, places, load);
  }
  /// Adds the sums of the slice that has ended to `to`.
  __device__ __forceinline__ void next_slice(T* to) {
    const Index node =
        part_.node_begin + (run_.slice - part_.slice_begin) * warp + static_cast<Index>(threadIdx.x) % warp;
    const int row = node < part_.node_end ? load_cached(a_.node + node) * B : 0;
#pragma unroll
    for (int d = 0; d < B; ++d) {
      if (node < part_.node_end) to[row + d] += sums_[d];
      sums_[d] = 0;
    }
    run_ = second_;
    second_ = run_of(a_.left, part_, run_.slice + static_cast<Index>(blockDim.x / warp));
  }

  const EhybSymmetricView<T>& a_;
  const EhybPart& part_;
  EhybRun run_, second_;
  EhybPlaces<T, B, U> places_;
  T sums_[B] = {};
};

/// All rounds, a barrier behind each, and with `apart` a few places of slices in front of it.
template <bool differs, bool apart, class T, int B, int held>
__device__ __forceinline__ void add_rounds(Index r, Index end, RoundWalk<T, B, held>& rounds, SliceWalk<T, B>& slices,
                                           const T* xs, T* ys, T* of_slices, const LoadKept& load) {
  for (; r < end; ++r) {
    rounds.template add<differs>(r, xs, ys, load);
    if (apart) slices.step(xs, of_slices, load);
    __syncthreads();
  }
}

/// A block is a part. Shared memory holds x, own entries and then the halo's, and behind them the part's y. With
/// `apart` it also holds the sums of slices, which are then added between the rounds: no round waits for them, nor
/// they for a round. Without, slices follow behind the last round, and the halo has the time of the rounds to come.
template <class T, int B, bool with_dot, bool apart>
__global__ void __launch_bounds__(symmetric_threads[sizeof(T) == 4][B])
    ehyb_symmetric_parts(const EhybSymmetricView<T> a, const ProductArgs<T> args, unsigned* tickets) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const EhybPart part = a.left.part[blockIdx.x];
  const int own = (part.node_end - part.node_begin) * B, threads = static_cast<int>(blockDim.x);
  T* const xs = reinterpret_cast<T*>(shared_bytes);
  T* const ys = xs + own + (part.halo_end - part.halo_begin) * B;
  T* const of_slices = apart ? ys + own : ys;
  const HaloNodes halo = halo_nodes(a.left, part, static_cast<int>(threadIdx.x));
  const Index r = a.part_round[blockIdx.x], rounds_end = a.part_round[blockIdx.x + 1];
  RoundWalk<T, B, apart ? 1 : 2> rounds(a, r, rounds_end);
  SliceWalk<T, B> slices(a, part);
  wait_for_earlier_work();
  ask_for_own<T, B>(part, args.x, xs);
  __pipeline_commit();
  const LoadKept load(a.left.kept_share);
  rounds.load(load);
  ask_for_halo<T, B>(a.left, part, halo, args.x, xs);
  __pipeline_commit();
  if (apart) slices.load(load);
  for (int i = static_cast<int>(threadIdx.x); i < (apart ? 2 * own : own); i += threads) ys[i] = 0;
  const bool differs = *a.differs != 0;
  __pipeline_wait_prior(apart ? 0 : 1);
  __syncthreads();
  if (differs) {
    add_rounds<true, apart>(r, rounds_end, rounds, slices, xs, ys, of_slices, load);
  } else {
    add_rounds<false, apart>(r, rounds_end, rounds, slices, xs, ys, of_slices, load);
  }
  if (!apart) {
    slices.load(load);
    cache_loaded();
  }
  slices.finish(xs, of_slices, load);
  __syncthreads();

  double dot = 0;
  for (int i = static_cast<int>(threadIdx.x); i < own; i += threads) {
    const Offset row = Offset{part.node_begin} * B + i;
    const T y = row_result(args, apart ? ys[i] + of_slices[i] : ys[i], row);
    args.y[row] = y;
    if (with_dot) dot += double(xs[i]) * double(y);
  }
  if (with_dot) finish_dot(dot, a.left.dots.of_part, tickets, args.xy);
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

template <class T, bool with_dot, bool apart>
PartsKernel<T> parts_kernel(int block) {
  switch (block) {
    case 3:
      return ehyb_symmetric_parts<T, 3, with_dot, apart>;
    case 2:
      return ehyb_symmetric_parts<T, 2, with_dot, apart>;
    default:
      return ehyb_symmetric_parts<T, 1, with_dot, apart>;
  }
}

template <class T, bool with_dot>
PartsKernel<T> parts_kernel(const EhybSymmetricView<T>& a) {
  return a.apart ? parts_kernel<T, with_dot, true>(a.left.block) : parts_kernel<T, with_dot, false>(a.left.block);
}

template <class T>
std::size_t shared_bytes_of(const EhybSymmetricView<T>& a) {
  return static_cast<std::size_t>(a.left.caches.longest + (a.apart ? 2 : 1) * a.longest_own) * sizeof(T);
}

}  // namespace

template <class T>
void ehyb_symmetric_product(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a,
                            const ProductArgs<T>& args) {
  if (a.left.rows == 0) return;
  const auto kernel = args.xy != nullptr ? parts_kernel<T, true>(a) : parts_kernel<T, false>(a);
  const LaunchShape shape{static_cast<unsigned>(a.left.parts), static_cast<unsigned>(a.left.block_threads),
                          shared_bytes_of(a)};
  launch_overlapped(ctx, kernel, shape, a, args, ctx.state().tickets());
  add_ehyb_remainder(ctx, a.left, args);
}

template <class T>
void compare_pairs(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a, Offset places, int* differs) {
  const Offset pairs = places * warp;
  NEWEL_CHECK_CUDA(cudaMemsetAsync(differs, 0, sizeof(int), ctx.state().stream()));
  if (pairs == 0) return;
  const auto blocks = static_cast<unsigned>((pairs + compare_threads - 1) / compare_threads);
  compare_pair_values<<<blocks, compare_threads, 0, ctx.state().stream()>>>(a, pairs, differs);
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void prepare_ehyb_symmetric(const Context<Space::device>& ctx, const EhybSymmetricView<T>& a) {
  for (const auto kernel : {parts_kernel<T, false>(a), parts_kernel<T, true>(a)}) {
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

}  // namespace newel::detail
