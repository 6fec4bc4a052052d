// SPDX-License-Identifier: Apache-2.0
// EHYB on the device: a thread block is a part, a warp a slice, a lane a node or its share of one.
#include "core/vectors/warp_device.cuh"
#include "core/vectors/overlapped_launch_device.cuh"
#include "core/memory/shared_memory_device.hpp"
#include "core/ranks/peer_rows_device.cuh"
#include "spmv/ehyb/ehyb_arriving.hpp"
#include "spmv/ehyb/ehyb_part_device.cuh"
#include "spmv/ehyb/ehyb_places_device.cuh"
#include "spmv/ehyb/ehyb_walk.hpp"
#include "spmv/peer_dot_device.cuh"
#include "spmv/residual_device.cuh"

namespace newel::detail {
namespace {

struct EhybTuning {
  static constexpr int extra_threads = 256;
};

/// Places of a slice that a lane loads at once, one batch ahead of its sums: as many as fit the registers twice. In
/// double and in single precision, by rows of a node; of six rows one place alone is too much to hold in addition to
/// another.
constexpr int batch_places[2][4] = {{0, 8, 2, 2}, {0, 8, 3, 4}};
template <class T, int B>
constexpr int ehyb_batch = B == 6 ? 0 : batch_places[sizeof(T) == 4][B % 4];

/// The node of the calling lane in a slice.
__device__ __forceinline__ Index node_of(const EhybPart& part, Index slice, int share) {
  return part.node_begin + ((slice - part.slice_begin) * warp + static_cast<Index>(threadIdx.x) % warp) / share;
}

/// y of the node of a lane as it was, loaded a slice ahead where there are registers for it.
template <class T, int B>
struct EhybBefore {
  static constexpr bool loaded = sizeof(T) == 4 || B == 1;
  T y[loaded ? B : 1] = {};

  __device__ __forceinline__ void load(const EhybPart& part, const ProductArgs<T>& args, Index slice, int share) {
    if constexpr (loaded) {
      if (args.beta == T(0) || slice >= part.slice_end || (threadIdx.x & (share - 1)) != 0) return;
      const Index node = node_of(part, slice, share);
      if (node >= part.node_end) return;
#pragma unroll
      for (int d = 0; d < B; ++d) y[d] = args.y[Offset{node} * B + d];
    }
  }
};

/// Adds the sums of a node's lanes, writes its rows by the first of them, and sets the sums back to zero. The lane's
/// share of x.y.
template <bool with_dot, class T, int B>
__device__ __forceinline__ double write_node(const EhybPart& part, const ProductArgs<T>& args, Index node, int share,
                                             const T* cache, T (&sums)[B], const EhybBefore<T, B>& before) {
  for (int step = 1; step < share; step *= 2) {
#pragma unroll
    for (int d = 0; d < B; ++d) sums[d] += __shfl_xor_sync(0xffffffffu, sums[d], step);
  }
  const bool writes = node < part.node_end && (threadIdx.x & (share - 1)) == 0;
  double dot = 0;
#pragma unroll
  for (int d = 0; d < B; ++d) {
    if (writes) {
      const Offset row = Offset{node} * B + d;
      T y;
      if constexpr (EhybBefore<T, B>::loaded)
        y = row_result_of(args, sums[d], before.y[d]);
      else
        y = row_result(args, sums[d], row);
      args.y[row] = y;
      if (with_dot) dot += double(cache[(node - part.node_begin) * B + d]) * double(y);
    }
    sums[d] = 0;
  }
  return dot;
}

/// The part's share of x.y in each thread, from those of its slices: whichever warps took them, in the same order.
/// The whole block.
template <class T>
__device__ __forceinline__ double sum_slices(const EhybView<T>& a, const EhybPart& part) {
  __syncthreads();
  double dot = 0;
  for (Index s = part.slice_begin + static_cast<Index>(threadIdx.x); s < part.slice_end; s += blockDim.x) {
    dot += a.dots.of_slice[s];
  }
  return dot;
}

/// Algorithm 3 of the paper, its first half. A block is a part: it caches x in shared memory (own, then halo), then
/// its warps take slices, the first three by number, the others from a counter. Lane l has the slice's node l /
/// share, whose rows the first lane of it writes. A warp never waits for what it has only just loaded: the bounds
/// of a slice are loaded two slices ahead, its values one batch ahead, the first before the cache is filled. What
/// says where x and the values lie is loaded while earlier work on the stream ends. `others`: what other devices have
/// to do with it.
template <class T, int B, bool with_dot, class Others>
__device__ __forceinline__ void multiply_part(const EhybView<T>& a, const ProductArgs<T>& args, unsigned number,
                                              unsigned* tickets, const Others& others) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const cache = reinterpret_cast<T*>(shared_bytes);
  __shared__ int next_slice;
  constexpr int U = ehyb_batch<T, B>;
  const EhybPart part = a.part[number];
  const int lane = threadIdx.x % warp, warps = blockDim.x / warp;
  const HaloNodes halo = halo_nodes(a, part, static_cast<int>(threadIdx.x));
  const Index first_slice = part.slice_begin + static_cast<Index>(threadIdx.x / warp);
  EhybRun run = run_of(a, part, first_slice);
  EhybRun second = run_of(a, part, first_slice + warps);
  EhybRun third = run_of(a, part, first_slice + 2 * warps);
  if (threadIdx.x == 0) next_slice = part.slice_begin + 3 * warps;
  wait_for_earlier_work();
  others.template load_cache<T, B>(a, part, halo, args.x, cache);
  const LoadKept load(a.kept_share);
  EhybPlaces<T, B, U> places;
  load_places(a.column, a.value, run.k, run.last - run.k, places, load);
  cache_loaded();

  T sums[B] = {};
  EhybBefore<T, B> before;
  before.load(part, args, run.slice, a.share);
  while (run.slice < part.slice_end) {
    bool ends = true;
    if constexpr (U > 0) {
      ends = run.k + U >= run.last;
      EhybPlaces<T, B, U> next;
      const Index k = ends ? second.k : run.k + U;
      load_places(a.column, a.value, k, (ends ? second.last : run.last) - k, next, load);
      add_places(places, run.last - run.k, cache, sums);
      places = next;
      run.k = k;
    } else {
      for (; run.k < run.last; ++run.k) add_place<LoadKept>(a.column, a.value, run.k, cache, sums, load);
    }
    if (!ends) continue;
    const Index node = node_of(part, run.slice, a.share);
    const double dot = write_node<with_dot>(part, args, node, a.share, cache, sums, before);
    before.load(part, args, second.slice, a.share);
    if (with_dot) {
      const double of_slice = warp_sum(dot);
      if (lane == 0) a.dots.of_slice[run.slice] = of_slice;
    }
    run = second;
    second = third;
    Index ticket = 0;
    if (lane == 0) ticket = atomicAdd(&next_slice, 1);
    third = run_of(a, part, __shfl_sync(0xffffffffu, ticket, 0));
  }
  if constexpr (with_dot) {
    const double dot = sum_slices(a, part);
    if (a.dots.peer != nullptr) {
      finish_peer_dot(dot, a.dots.of_part + number, *a.dots.peer, args.xy);
    } else {
      finish_dot(dot, a.dots.of_part, tickets, args.xy);
    }
  }
}

struct NoOthers {
  template <class T, int B>
  __device__ __forceinline__ void load_cache(const EhybView<T>& a, const EhybPart& part, const HaloNodes& halo,
                                             const T* x, T* cache) const {
    detail::load_cache<T, B>(a, part, halo, x, cache);
  }
};

template <class T, int B, bool with_dot>
__global__ void __launch_bounds__(ehyb_most_threads(B))
    ehyb_parts(const EhybView<T> a, const ProductArgs<T> args, unsigned* tickets) {
  multiply_part<T, B, with_dot>(a, args, blockIdx.x, tickets, NoOthers{});
}

/// Of a block that reads rows of other devices, if it `waits`. Whoever waits `tells` them first that this device's are
/// there, so it does not matter which block begins first.
struct ArrivingRows {
  const PeerArrivals& rows;
  bool waits, tells;

  template <class T, int B>
  __device__ __forceinline__ void load_cache(const EhybView<T>& a, const EhybPart& part, const HaloNodes& halo,
                                             const T* x, T* cache) const {
    if (tells && threadIdx.x == 0) tell_readers(rows);
    if (!waits) return detail::load_cache<T, B>(a, part, halo, x, cache);
    ask_for_own<T, B>(part, x, cache);
    await_rows(rows);
    ask_for_halo<T, B>(a, part, halo, x, cache);
    __pipeline_commit();
  }
};

/// The same with rows of other devices. The parts that wait for them have the first blocks: they take longer, and the
/// last to begin are the last to end. On two H200 an iteration of CG on 11.7 million rows of a grid takes 259.4 us so,
/// and 260.6 if they have the last blocks.
template <class T, int B>
__global__ void __launch_bounds__(ehyb_most_threads(B))
    ehyb_parts_arriving(const EhybView<T> a, const ProductArgs<T> args, const EhybArriving arriving,
                        unsigned* tickets) {
  const auto block = static_cast<Index>(blockIdx.x), waiting = a.parts - arriving.first_part;
  const bool waits = block < waiting;
  const Index number = waits ? arriving.first_part + block : block - waiting;
  multiply_part<T, B, true>(a, args, static_cast<unsigned>(number), tickets,
                            ArrivingRows{arriving.rows, waits, waits || block == 0});
}

/// The second half: a warp takes a slice of extra rows and adds their sums to y, which the first kernel has written.
template <class T>
__global__ void __launch_bounds__(EhybTuning::extra_threads)
    ehyb_extra_rows(const EhybView<T> a, const ProductArgs<T> args) {
  const Index slice = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (slice >= a.extra.slices) return;
  const int lane = threadIdx.x % warp;
  T sum = 0;
#pragma unroll 4
  for (Offset k = a.extra.slice_first[slice]; k < a.extra.slice_first[slice + 1]; ++k) {
    const Offset slot = k * warp + lane;
    sum += load_once(a.extra.value + slot) * load_cached(args.x + load_once(a.extra.column + slot));
  }
  const Offset i = Offset{slice} * warp + lane;
  if (i < a.extra.rows) args.y[a.extra.row[i]] += args.alpha * sum;
}

/// A warp sums a segment of a long row.
template <class T>
__global__ void __launch_bounds__(EhybTuning::extra_threads)
    ehyb_segments(const EhybView<T> a, const ProductArgs<T> args) {
  const Index segment = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (segment >= a.longs.segments) return;
  T sum = 0;
  const Offset end = a.longs.segment_begin[segment + 1];
#pragma unroll 4
  for (Offset k = a.longs.segment_begin[segment] + threadIdx.x % warp; k < end; k += warp) {
    sum += load_once(a.longs.value + k) * load_cached(args.x + load_once(a.longs.column + k));
  }
  sum = warp_sum(sum);
  if (threadIdx.x % warp == 0) a.longs.segment_sum[segment] = sum;
}

/// A warp adds the segments of a long row, in the same order every time, to y.
template <class T>
__global__ void __launch_bounds__(EhybTuning::extra_threads)
    ehyb_long_rows(const EhybView<T> a, const ProductArgs<T> args) {
  const Index i = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (i >= a.longs.rows) return;
  T sum = 0;
  for (Index s = a.longs.segment[i] + threadIdx.x % warp; s < a.longs.segment[i + 1]; s += warp)
    sum += a.longs.segment_sum[s];
  sum = warp_sum(sum);
  if (threadIdx.x % warp == 0) args.y[a.longs.row[i]] += args.alpha * sum;
}

template <class T>
using PartsKernel = void (*)(const EhybView<T>, const ProductArgs<T>, unsigned*);

template <class T, bool with_dot>
PartsKernel<T> parts_kernel(int block) {
  switch (block) {
    case 6:
      return ehyb_parts<T, 6, with_dot>;
    case 3:
      return ehyb_parts<T, 3, with_dot>;
    case 2:
      return ehyb_parts<T, 2, with_dot>;
    default:
      return ehyb_parts<T, 1, with_dot>;
  }
}

template <class T>
using ArrivingKernel = void (*)(const EhybView<T>, const ProductArgs<T>, const EhybArriving, unsigned*);

template <class T>
ArrivingKernel<T> arriving_kernel(int block) {
  switch (block) {
    case 6:
      return ehyb_parts_arriving<T, 6>;
    case 3:
      return ehyb_parts_arriving<T, 3>;
    case 2:
      return ehyb_parts_arriving<T, 2>;
    default:
      return ehyb_parts_arriving<T, 1>;
  }
}

/// A block for each part.
template <class T>
LaunchShape shape_of(const EhybView<T>& a) {
  return {static_cast<unsigned>(a.parts), static_cast<unsigned>(a.block_threads),
          static_cast<std::size_t>(a.caches.longest) * sizeof(T)};
}

/// Blocks of which each warp takes one of `pieces`.
template <class T>
unsigned blocks_for(Index pieces) {
  constexpr Offset warps = EhybTuning::extra_threads / warp;
  return static_cast<unsigned>((pieces + warps - 1) / warps);
}

}  // namespace

template <class T>
void ehyb_product(const Context<Space::device>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  if (a.rows == 0) return;
  const auto kernel = args.xy != nullptr ? parts_kernel<T, true>(a.block) : parts_kernel<T, false>(a.block);
  launch_overlapped(ctx, kernel, shape_of(a), a, args, ctx.state().tickets());
  add_ehyb_remainder(ctx, a, args);
}

template <class T>
void ehyb_product_arriving(const Context<Space::device>& ctx, const EhybView<T>& a, const EhybArriving& arriving,
                           const ProductArgs<T>& args) {
  launch_overlapped(ctx, arriving_kernel<T>(a.block), shape_of(a), a, args, arriving, ctx.state().tickets());
}

template <class T>
void add_ehyb_remainder(const Context<Space::device>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  const auto& state = ctx.state();
  if (a.extra.rows > 0) {
    ehyb_extra_rows<<<blocks_for<T>(a.extra.slices), EhybTuning::extra_threads, 0, state.stream()>>>(a, args);
    NEWEL_CHECK_LAUNCH();
  }
  if (a.longs.rows > 0) {
    ehyb_segments<<<blocks_for<T>(a.longs.segments), EhybTuning::extra_threads, 0, state.stream()>>>(a, args);
    NEWEL_CHECK_LAUNCH();
    ehyb_long_rows<<<blocks_for<T>(a.longs.rows), EhybTuning::extra_threads, 0, state.stream()>>>(a, args);
    NEWEL_CHECK_LAUNCH();
  }
}

template <class T>
void prepare_ehyb(const Context<Space::device>& ctx, const EhybView<T>& a) {
  for (const auto kernel : {parts_kernel<T, false>(a.block), parts_kernel<T, true>(a.block)}) {
    allow_all_shared_memory(ctx, kernel);
  }
}

template <class T>
void prepare_ehyb_arriving(const Context<Space::device>& ctx, const EhybView<T>& a) {
  allow_all_shared_memory(ctx, arriving_kernel<T>(a.block));
}

#define X(T)                                                                                                  \
  template void ehyb_product_arriving(const Context<Space::device>&, const EhybView<T>&, const EhybArriving&, \
                                      const ProductArgs<T>&);                                                 \
  template void prepare_ehyb_arriving(const Context<Space::device>&, const EhybView<T>&);
X(double)
X(float)
#undef X

template void ehyb_product(const Context<Space::device>&, const EhybView<double>&, const ProductArgs<double>&);
template void ehyb_product(const Context<Space::device>&, const EhybView<float>&, const ProductArgs<float>&);
template void add_ehyb_remainder(const Context<Space::device>&, const EhybView<double>&, const ProductArgs<double>&);
template void add_ehyb_remainder(const Context<Space::device>&, const EhybView<float>&, const ProductArgs<float>&);
template void prepare_ehyb(const Context<Space::device>&, const EhybView<double>&);
template void prepare_ehyb(const Context<Space::device>&, const EhybView<float>&);

template <class T>
ResidualSums ehyb_residual(const Context<Space::device>& ctx, const EhybView<T>& a, const ResidualArgs<T>& args) {
  return residual_by(ctx, EhybWalk<T>{a}, args);
}

template ResidualSums ehyb_residual(const Context<Space::device>&, const EhybView<double>&,
                                    const ResidualArgs<double>&);
template ResidualSums ehyb_residual(const Context<Space::device>&, const EhybView<float>&,
                                    const ResidualArgs<float>&);

}  // namespace newel::detail
