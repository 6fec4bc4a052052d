// SPDX-License-Identifier: Apache-2.0
// SlotGather on the device: the sort of the chunks, once, and the gather through them.
#include "spmv/plan/slot_gather.hpp"

#include <algorithm>
#include <string>

#include "core/memory/shared_memory_device.hpp"
#include "spmv/product_device.cuh"

namespace newel::detail {
namespace {

struct SlotGatherTuning {
  static constexpr int sort_threads = 1024;
  static constexpr int threads = 256;
  static constexpr int least_blocks = 5;  // 48 registers hold a batch
};

// Runs of which a thread has the values in flight.
template <class T, int run>
constexpr int runs_at_once = run == 1   ? 8
                             : run == 2 ? 4
                             : run == 3 ? (sizeof(T) == 4 ? 4 : 3)
                                        : 2;

constexpr std::uint32_t no_source = ValueMap<Space::device>::none32;

// What a refresh reads.
struct ChunkView {
  SlotGatherShape shape;
  const std::uint16_t* place;
  const SlotGatherGroup* group;
  const SlotGatherChunk* chunk;
  const std::uint32_t* piece;
};

// Batcher's bitonic sort of `size` keys, a power of two, by the threads of a block.
__device__ __forceinline__ void sort_keys(std::uint64_t* key, int size) {
  for (int sorted = 2; sorted <= size; sorted *= 2) {
    for (int apart = sorted / 2; apart > 0; apart /= 2) {
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += static_cast<int>(blockDim.x)) {
        const int low = 2 * i - (i & (apart - 1)), high = low + apart;
        const std::uint64_t a = key[low], b = key[high];
        const bool ascending = (low & sorted) == 0;
        if ((a > b) == ascending) {
          key[low] = b;
          key[high] = a;
        }
      }
      __syncthreads();
    }
  }
}

// A block has a chunk: it sorts the runs by source, padding last and what lies behind the end of the last chunk
// behind that, and leaves sources and places in their new order, groups, and how many runs and pieces it has, this
// for now in `first_piece`. `size` is the least power of two from chunk_runs and 32 on.
__global__ void __launch_bounds__(SlotGatherTuning::sort_threads)
    sort_chunks_kernel(const SlotGatherShape shape, const std::uint32_t* position, int size, std::uint32_t* source,
                       std::uint16_t* place, SlotGatherGroup* group, SlotGatherChunk* chunk) {
  extern __shared__ std::uint64_t key[];
  const std::int64_t first = shape.first_run(blockIdx.x);
  const int runs = shape.runs_of(blockIdx.x), groups = shape.groups_of_chunk();
  const int from = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  group += std::int64_t{blockIdx.x} * groups;
  chunk += blockIdx.x;
  for (int r = from; r < size; r += step) {
    const auto at = static_cast<std::uint64_t>(shape.place(r));
    key[r] = r < runs ? std::uint64_t{position[first + r]} << 16 | at : ~std::uint64_t{0};
  }
  __syncthreads();
  sort_keys(key, size);

  const auto source_of = [](std::uint64_t k) { return static_cast<std::uint32_t>(k >> 16); };
  const auto held = [&](int r) { return r < runs && source_of(key[r]) != no_source; };
  for (int r = from; r < size; r += step) {  // whole warps: size is a multiple of 32
    const std::uint32_t mine = source_of(key[r]);
    const bool start = held(r) && (r == 0 || mine != source_of(key[r - 1]) + static_cast<std::uint32_t>(shape.run));
    const unsigned starts = __ballot_sync(0xffffffffu, start);
    if (r % 32 == 0 && r / 32 < groups) group[r / 32].starts = starts;
    if (r < runs) {
      place[first + r] = static_cast<std::uint16_t>(key[r] & 0xffffu);
      source[first + r] = mine;
    }
    if (held(r) && (r + 1 == size || !held(r + 1))) chunk->held = static_cast<std::uint32_t>(r + 1);
  }
  if (from == 0 && !held(0)) chunk->held = 0;
  __syncthreads();
  for (int g = from; g < groups; g += step) {
    std::uint32_t before = 0;
    for (int other = 0; other < g; ++other) before += static_cast<std::uint32_t>(__popc(group[other].starts));
    group[g].before = before;
    if (g + 1 == groups) chunk->first_piece = before + static_cast<std::uint32_t>(__popc(group[g].starts));
  }
}

// The piece of run r of a chunk, counted from the chunk's first.
__device__ __forceinline__ std::uint32_t piece_of(const SlotGatherGroup& group, unsigned r) {
  return group.before + static_cast<std::uint32_t>(__popc(group.starts & (0xffffffffu >> (31 - r % 32)))) - 1;
}

// A block has a chunk: the run that starts a piece says where the piece lies.
__global__ void __launch_bounds__(SlotGatherTuning::threads)
    write_pieces_kernel(const SlotGatherShape shape, const std::uint32_t* source, const SlotGatherGroup* group,
                        const SlotGatherChunk* chunks, std::uint32_t* piece) {
  const SlotGatherChunk chunk = chunks[blockIdx.x];
  group += std::int64_t{blockIdx.x} * shape.groups_of_chunk();
  source += shape.first_run(blockIdx.x);
  for (unsigned r = threadIdx.x; r < chunk.held; r += blockDim.x) {
    const SlotGatherGroup mine = group[r / 32];
    if ((mine.starts >> r % 32 & 1u) == 0) continue;
    piece[chunk.first_piece + piece_of(mine, r)] = source[r] - r * static_cast<std::uint32_t>(shape.run);
  }
}

// Where slot s of a chunk stands in shared memory. Neighbours in the order of the sources are slots that lie a
// multiple of 32 apart, often by a power of two, and would meet in one bank.
template <class T>
__device__ __forceinline__ unsigned staged_at(unsigned s) {
  constexpr unsigned bits = sizeof(T) == 8 ? 4 : 5, banks = 1u << bits;  // a half warp reads eight bytes at a time
  const unsigned line = s / 32;
  return s ^ ((line ^ line >> bits) & (banks - 1));
}

// A block has a chunk, a thread every 256th of its runs in the order of their sources: loads first, several in flight,
// then the stores to shared memory, from where the chunk is written.
template <class T, int run>
__global__ void __launch_bounds__(SlotGatherTuning::threads, SlotGatherTuning::least_blocks)
    gather_chunks_kernel(const ChunkView view, const T* __restrict__ values, T* __restrict__ slots) {
  constexpr unsigned threads = SlotGatherTuning::threads;
  constexpr int batch = runs_at_once<T, run>;
  __shared__ T staged[SlotGather<T, Space::device>::chunk_bytes / sizeof(T)];
  const SlotGatherChunk chunk = view.chunk[blockIdx.x];
  const std::int64_t first = view.shape.first_run(blockIdx.x);
  const SlotGatherGroup* const group = view.group + std::int64_t{blockIdx.x} * view.shape.groups_of_chunk();
  const std::uint16_t* const place = view.place + first;
  const std::uint32_t* const piece = view.piece + chunk.first_piece;
  const auto runs = static_cast<unsigned>(view.shape.runs_of(blockIdx.x)), count = runs * run;
  const auto lanes = static_cast<unsigned>(view.shape.lanes);

  T* const out = slots + first * run;
  if (chunk.held == 0) {
    for (unsigned s = threadIdx.x; s < count; s += threads) out[s] = T(0);
    return;
  }
  // Behind the end the last run is loaded again: loads without conditions are issued together.
  for (unsigned from = threadIdx.x; from < runs; from += threads * batch) {
    unsigned to[batch];
    std::uint32_t source[batch];
    T value[batch][run];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const unsigned r = min(from + k * threads, chunk.held - 1);
      to[k] = load_once(place + min(from + k * threads, runs - 1));
      source[k] = piece_of(group[r / 32], r);
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      source[k] = load_cached(piece + source[k]) + min(from + k * threads, chunk.held - 1) * run;
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
#pragma unroll
      for (int e = 0; e < run; ++e) value[k][e] = load_cached(values + source[k] + e);
    }
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const unsigned r = from + k * threads;
#pragma unroll
      for (int e = 0; e < run; ++e) {
        if (r < runs) staged[staged_at<T>(to[k] + e * lanes)] = r < chunk.held ? value[k][e] : T(0);
      }
    }
  }
  __syncthreads();
#pragma unroll 8
  for (unsigned s = threadIdx.x; s < count; s += threads) out[s] = staged[staged_at<T>(s)];
}

template <class T, int run>
void launch_gather(const Context<Space::device>& ctx, const ChunkView& view, const T* values, T* slots) {
  const auto chunks = static_cast<unsigned>(view.shape.chunks);
  gather_chunks_kernel<T, run><<<chunks, SlotGatherTuning::threads, 0, ctx.state().stream()>>>(view, values, slots);
  NEWEL_CHECK_LAUNCH();
}

// Hands out the pieces of the chunks one behind the other; returns how many there are.
std::int64_t place_pieces(const Context<Space::device>& ctx, Array<SlotGatherChunk, Space::device>& chunk) {
  std::vector<SlotGatherChunk> chunks = to_vector(ctx, chunk.cspan());
  std::uint32_t first = 0;
  for (SlotGatherChunk& c : chunks) {
    const std::uint32_t count = c.first_piece;
    c.first_piece = first;
    first += count;
  }
  chunk = make_array(ctx, chunks);
  return first;
}

}  // namespace

template <class T>
SlotGather<T, Space::device>::SlotGather(const Context<Space::device>& ctx, ValueMap<Space::device> map)
    : map_(std::move(map)) {
  const Index lanes_fit = chunk_bytes / static_cast<Index>(sizeof(T)) / map_.run / map_.lanes;
  if (map_.narrow.empty() || lanes_fit == 0) return;
  shape_.runs = map_.positions();
  shape_.run = map_.run;
  shape_.lanes = map_.lanes;
  const std::int64_t all_lanes = (shape_.runs + map_.lanes - 1) / map_.lanes;
  // A small matrix is one chunk, and sorted as what it is.
  shape_.chunk_runs = static_cast<Index>(std::min<std::int64_t>(lanes_fit, all_lanes)) * map_.lanes;
  shape_.chunks = static_cast<Index>((shape_.runs + shape_.chunk_runs - 1) / shape_.chunk_runs);
  place_ = Array<std::uint16_t, Space::device>(ctx, shape_.runs);
  group_ = Array<SlotGatherGroup, Space::device>(ctx, std::int64_t{shape_.chunks} * shape_.groups_of_chunk());
  chunk_ = Array<SlotGatherChunk, Space::device>(ctx, shape_.chunks);
  Array<std::uint32_t, Space::device> source(ctx, shape_.runs);
  int size = 32;
  while (size < shape_.chunk_runs) size *= 2;
  const std::size_t shared = static_cast<std::size_t>(size) * sizeof(std::uint64_t);
  allow_all_shared_memory(ctx, sort_chunks_kernel);
  const auto chunks = static_cast<unsigned>(shape_.chunks);
  cudaStream_t stream = ctx.state().stream();
  sort_chunks_kernel<<<chunks, SlotGatherTuning::sort_threads, shared, stream>>>(
      shape_, map_.narrow.data(), size, source.data(), place_.data(), group_.data(), chunk_.data());
  NEWEL_CHECK_LAUNCH();
  map_.narrow = {};
  piece_ = Array<std::uint32_t, Space::device>(ctx, place_pieces(ctx, chunk_));
  write_pieces_kernel<<<chunks, SlotGatherTuning::threads, 0, stream>>>(shape_, source.data(), group_.data(),
                                                                        chunk_.data(), piece_.data());
  NEWEL_CHECK_LAUNCH();
}

template <class T>
void SlotGather<T, Space::device>::gather(const Context<Space::device>& ctx, Span<const T, Space::device> values,
                                          Span<T, Space::device> slots) const {
  if (shape_.chunks == 0) return newel::gather<T, Space::device>(ctx, values, map_, slots);
  const auto check = [](const char* what, std::int64_t expected, std::int64_t found) {
    if (expected == found) return;
    throw InputError("expected " + std::to_string(expected) + " " + what + ", found " + std::to_string(found));
  };
  check("values", map_.source_size, values.size);
  check("slots", shape_.runs * shape_.run, slots.size);
  const ChunkView view{shape_, place_.data(), group_.data(), chunk_.data(), piece_.data()};
  switch (shape_.run) {
    case 2:
      return launch_gather<T, 2>(ctx, view, values.data, slots.data);
    case 3:
      return launch_gather<T, 3>(ctx, view, values.data, slots.data);
    case 6:
      return launch_gather<T, 6>(ctx, view, values.data, slots.data);
    default:
      return launch_gather<T, 1>(ctx, view, values.data, slots.data);
  }
}

template <class T>
std::vector<Offset> SlotGather<T, Space::device>::positions(const Context<Space::device>& ctx,
                                                            std::int64_t size) const {
  if (shape_.chunks == 0) return positions_of(ctx, map_, size);
  const auto place = to_vector(ctx, place_.cspan());
  const auto group = to_vector(ctx, group_.cspan());
  const auto chunk = to_vector(ctx, chunk_.cspan());
  const auto piece = to_vector(ctx, piece_.cspan());
  std::vector<Offset> position(static_cast<std::size_t>(size), -1);
  const Offset run = shape_.run;
  for (std::size_t c = 0; c < chunk.size(); ++c) {
    const auto first = static_cast<std::size_t>(shape_.first_run(static_cast<std::int64_t>(c)));
    const SlotGatherGroup* const groups = group.data() + c * static_cast<std::size_t>(shape_.groups_of_chunk());
    std::size_t at = chunk[c].first_piece;  // the piece behind the current one
    for (std::uint32_t r = 0; r < chunk[c].held; ++r) {
      at += groups[r / 32].starts >> r % 32 & 1u;
      const std::uint32_t source = piece[at - 1] + r * static_cast<std::uint32_t>(run);
      const std::size_t slot = first * static_cast<std::size_t>(run) + place[first + r];
      for (Offset e = 0; e < run; ++e) position[slot + static_cast<std::size_t>(e * shape_.lanes)] = source + e;
    }
  }
  return position;
}

template class SlotGather<double, Space::device>;
template class SlotGather<float, Space::device>;

}  // namespace newel::detail
