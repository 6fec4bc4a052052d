// SPDX-License-Identifier: Apache-2.0
// EHYB on the device: a thread block is a part, a warp a slice, a lane a node.
#include <purlin/core/machine.hpp>
#include <purlin/spmv/ehyb/ehyb_product.hpp>
#include <purlin/spmv/product_device.cuh>

namespace purlin::detail {
namespace {

constexpr int warp = 32;

/// Threads of the parts that share a multiprocessor, and places whose loads are in flight at once, by rows of a node:
/// 64 registers a thread then suffice, and 1024 threads keep enough of the memory busy.
struct EhybTuning {
  static constexpr int threads_per_multiprocessor = 1024;
  static constexpr int extra_threads = 256;
  static constexpr int places[4] = {0, 8, 4, 2};
  static constexpr int places_of_six = 1;
};

/// Loads x of the part's own nodes and of its halo; the whole block.
template <class T, int B>
__device__ __forceinline__ void load_cache(const EhybView<T>& a, const EhybPart& part, const T* x, T* cache) {
  const int own = (part.node_end - part.node_begin) * B;
  const T* own_x = x + Offset{part.node_begin} * B;
  for (int i = threadIdx.x; i < own; i += blockDim.x) cache[i] = load_cached(own_x + i);
  const int halo = (part.halo_end - part.halo_begin) * B;
  for (int i = threadIdx.x; i < halo; i += blockDim.x) {
    const int h = i / B;
    cache[own + i] = load_cached(x + Offset{load_cached(a.halo_node + part.halo_begin + h)} * B + (i - h * B));
  }
}

/// Adds `count` <= U places of the slice, starting at place k, to the lane's sums. All loads come before all sums.
template <class T, int B, int U>
__device__ __forceinline__ void add_places(const EhybView<T>& a, const T* cache, Offset k, int count, T (&sums)[B]) {
  const int lane = threadIdx.x % warp;
  int column[U];
  T value[U][B * B];
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (u < count) {
      column[u] = load_once(a.column + (k + u) * warp + lane) * B;
#pragma unroll
      for (int i = 0; i < B * B; ++i) value[u][i] = load_once(a.value + ((k + u) * (B * B) + i) * warp + lane);
    }
  }
#pragma unroll
  for (int u = 0; u < U; ++u) {
    if (u < count) {
#pragma unroll
      for (int e = 0; e < B; ++e) {
        const T from = cache[column[u] + e];
#pragma unroll
        for (int d = 0; d < B; ++d) sums[d] += value[u][d * B + e] * from;
      }
    }
  }
}

/// Algorithm 3 of the paper, its first half. A block is a part: it caches x in shared memory (own, then halo), then
/// its warps take slices, the first by number, the next from a counter. Lane l has the slice's l-th node, whose rows
/// it alone writes.
template <class T, int B, bool with_dot>
__global__ void __launch_bounds__(EhybTuning::threads_per_multiprocessor)
    ehyb_parts(const EhybView<T> a, const ProductArgs<T> args, unsigned* tickets) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const cache = reinterpret_cast<T*>(shared_bytes);
  __shared__ int next_slice;
  constexpr int U = B == 6 ? EhybTuning::places_of_six : EhybTuning::places[B % 4];
  const EhybPart part = a.part[blockIdx.x];
  const int lane = threadIdx.x % warp;
  int slice = part.slice_begin + threadIdx.x / warp;
  if (threadIdx.x == 0) next_slice = part.slice_begin + blockDim.x / warp;
  load_cache<T, B>(a, part, args.x, cache);
  __syncthreads();

  double dot = 0;
  while (slice < part.slice_end) {
    T sums[B] = {};
    Offset k = load_cached(a.slice_first + slice);
    const Offset last = load_cached(a.slice_first + slice + 1);
    for (; k + U <= last; k += U) add_places<T, B, U>(a, cache, k, U, sums);
    if (k < last) add_places<T, B, U>(a, cache, k, static_cast<int>(last - k), sums);
    const Index node = part.node_begin + (slice - part.slice_begin) * warp + lane;
    if (node < part.node_end) {
#pragma unroll
      for (int d = 0; d < B; ++d) {
        const Offset row = Offset{node} * B + d;
        const T y = row_result(args, sums[d], row);
        args.y[row] = y;
        if (with_dot) dot += double(cache[(node - part.node_begin) * B + d]) * double(y);
      }
    }
    if (lane == 0) slice = atomicAdd(&next_slice, 1);
    slice = __shfl_sync(0xffffffffu, slice, 0);
  }
  if (with_dot) finish_dot(dot, a.part_dot, tickets, args.xy);
}

/// The second half: a warp takes a slice of extra rows and adds their sums to y, which the first kernel has written.
template <class T>
__global__ void __launch_bounds__(EhybTuning::extra_threads)
    ehyb_extra_rows(const EhybView<T> a, const ProductArgs<T> args) {
  const Index slice = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (slice >= a.er_slices) return;
  const int lane = threadIdx.x % warp;
  T sum = 0;
#pragma unroll 4
  for (Offset k = a.er_slice_first[slice]; k < a.er_slice_first[slice + 1]; ++k) {
    const Offset slot = k * warp + lane;
    sum += load_once(a.er_value + slot) * load_cached(args.x + load_once(a.er_column + slot));
  }
  const Index i = slice * warp + lane;
  if (i < a.er_rows) args.y[a.er_row[i]] += args.alpha * sum;
}

/// A warp sums a segment of a long row.
template <class T>
__global__ void __launch_bounds__(EhybTuning::extra_threads)
    ehyb_segments(const EhybView<T> a, const ProductArgs<T> args) {
  const Index segment = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (segment >= a.segments) return;
  T sum = 0;
  const Offset end = a.segment_begin[segment + 1];
#pragma unroll 4
  for (Offset k = a.segment_begin[segment] + threadIdx.x % warp; k < end; k += warp) {
    sum += load_once(a.long_value + k) * load_cached(args.x + load_once(a.long_column + k));
  }
  sum = warp_sum(sum);
  if (threadIdx.x % warp == 0) a.segment_sum[segment] = sum;
}

/// A warp adds the segments of a long row, in the same order every time, to y.
template <class T>
__global__ void __launch_bounds__(EhybTuning::extra_threads)
    ehyb_long_rows(const EhybView<T> a, const ProductArgs<T> args) {
  const Index i = static_cast<Index>((Offset{blockIdx.x} * blockDim.x + threadIdx.x) / warp);
  if (i >= a.long_rows) return;
  T sum = 0;
  for (Index s = a.long_segment[i] + threadIdx.x % warp; s < a.long_segment[i + 1]; s += warp)
    sum += a.segment_sum[s];
  sum = warp_sum(sum);
  if (threadIdx.x % warp == 0) args.y[a.long_row[i]] += args.alpha * sum;
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

/// Blocks of which each warp takes one of `pieces`.
unsigned blocks_for(Index pieces) {
  constexpr Offset warps = EhybTuning::extra_threads / warp;
  return static_cast<unsigned>((pieces + warps - 1) / warps);
}

}  // namespace

template <class T>
void ehyb_product(const Context<Space::device>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  if (a.rows == 0) return;
  const auto& state = ctx.state();
  const int threads = EhybTuning::threads_per_multiprocessor / a.resident / warp * warp;
  const std::size_t shared_bytes = static_cast<std::size_t>(a.longest_cache) * sizeof(T);
  const auto kernel = args.xy != nullptr ? parts_kernel<T, true>(a.block) : parts_kernel<T, false>(a.block);
  kernel<<<a.parts, threads, shared_bytes, state.stream()>>>(a, args, state.tickets());
  PURLIN_CHECK_LAUNCH();
  if (a.er_rows > 0) {
    ehyb_extra_rows<<<blocks_for(a.er_slices), EhybTuning::extra_threads, 0, state.stream()>>>(a, args);
    PURLIN_CHECK_LAUNCH();
  }
  if (a.long_rows > 0) {
    ehyb_segments<<<blocks_for(a.segments), EhybTuning::extra_threads, 0, state.stream()>>>(a, args);
    PURLIN_CHECK_LAUNCH();
    ehyb_long_rows<<<blocks_for(a.long_rows), EhybTuning::extra_threads, 0, state.stream()>>>(a, args);
    PURLIN_CHECK_LAUNCH();
  }
}

template <class T>
void prepare_ehyb(const Context<Space::device>& ctx, const EhybView<T>& a) {
  const int most = static_cast<int>(machine_of(ctx).cache_bytes);
  for (const auto kernel : {parts_kernel<T, false>(a.block), parts_kernel<T, true>(a.block)}) {
    cudaFuncAttributes attributes;
    PURLIN_CHECK_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    const int available = most - static_cast<int>(attributes.sharedSizeBytes);
    PURLIN_CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, available));
  }
}

template void ehyb_product(const Context<Space::device>&, const EhybView<double>&, const ProductArgs<double>&);
template void ehyb_product(const Context<Space::device>&, const EhybView<float>&, const ProductArgs<float>&);
template void prepare_ehyb(const Context<Space::device>&, const EhybView<double>&);
template void prepare_ehyb(const Context<Space::device>&, const EhybView<float>&);

}  // namespace purlin::detail
