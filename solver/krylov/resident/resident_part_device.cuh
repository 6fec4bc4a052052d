// SPDX-License-Identifier: Apache-2.0
/// A part of a resident solve: what its block keeps in shared memory, and the pass over its share of the matrix.
/// Internal.
#pragma once

#include <type_traits>

#include "solver/krylov/resident/resident_rows_device.cuh"

namespace newel::detail {
namespace {

struct ResidentTuning {
  static constexpr int threads = 512;                     ///< 128 registers each
  static constexpr int additional_synchronisations = 12;  ///< of a launch: the opening, the end, and some to spare
  static constexpr int least_rows = 32;                   ///< of a block, where a CSR matrix is shared out
};

/// Places of a slice that a lane loads at once, by rows of a node: as many as fit the registers twice, as in
/// EHYB's own product. With six rows there are not enough registers for two places.
constexpr int resident_places[2][4] = {{0, 8, 3, 2}, {0, 12, 6, 4}};
template <class T, int B>
constexpr int resident_batch = B == 6 ? 0 : resident_places[sizeof(T) == 4][B % 4];

/// A block's share of a matrix.
template <class T>
struct ResidentShare {
  int halo;  ///< entries
  int slices;
  Index first_place;
  int lanes;  ///< of a node
  const T* value;
  const std::uint16_t* column;
  const Index* halo_node;
  const Index* slice_first;  ///< from the part's first slice on
  const unsigned char* marked;
};

/// What a block works with. `across`: blocks of other devices have parts too.
template <class T, bool across = false>
struct ResidentPart {
  int own;    ///< rows
  int reach;  ///< entries of a vector with the longest halo
  Offset first_row;
  int halo_before;           ///< entries of the halos of the parts in front of this one
  ResidentShare<T> a;        ///< where M has no matrices
  ResidentRowShare<T> rows;  ///< of a CSR matrix
  ResidentRecord* record;    ///< where M has matrices: of A and of these
  unsigned char* base;
  T *with_halo, *own_only;  ///< vectors, one behind the other
  ExchangeOf<across> exchange;

  __device__ T* vector(int k) const { return with_halo + k * reach; }
  __device__ T* own_vector(int k) const { return own_only + k * own; }
};

template <class V>
__device__ __forceinline__ V* carve(unsigned char* base, std::size_t at) {
  return reinterpret_cast<V*>(base + at);
}

/// Copies what stays on the chip of a matrix.
template <class T, int B, bool on_chip>
__device__ ResidentRecord open_share(const ResidentMatrix<T>& a, ResidentSharedMemory& memory, unsigned char* base) {
  const EhybPart part = a.part[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int nodes = part.node_end - part.node_begin, halo_nodes = part.halo_end - part.halo_begin;
  const int slices = part.slice_end - part.slice_begin;
  const Index first_place = a.slice_first[part.slice_begin];
  const int places = a.slice_first[part.slice_end] - first_place;
  const ResidentMatrixSpace at = take_matrix<T>(memory, B, nodes, halo_nodes, slices, places, on_chip);
  Index* const halo_node = carve<Index>(base, at.halo);
  Index* const slice_first = carve<Index>(base, at.slice);
  unsigned char* const marked = carve<unsigned char>(base, at.marked);
  for (int i = thread; i <= slices; i += threads) slice_first[i] = a.slice_first[part.slice_begin + i];
  for (int i = thread; i < halo_nodes; i += threads) halo_node[i] = a.halo_node[part.halo_begin + i];
  for (int i = thread; i < nodes; i += threads) marked[i] = a.marked[part.node_begin + i];
  if constexpr (on_chip) {
    const T* value = a.value + Offset{first_place} * (warp * B * B);
    const std::uint16_t* column = a.column + Offset{first_place} * warp;
    T* const value_here = carve<T>(base, at.value);
    std::uint16_t* const column_here = carve<std::uint16_t>(base, at.column);
    for (int i = thread; i < places * (warp * B * B); i += threads) value_here[i] = load_once(value + i);
    for (int i = thread; i < places * warp; i += threads) column_here[i] = load_once(column + i);
  }
  const auto offset = [](std::size_t bytes) { return static_cast<unsigned>(bytes); };
  return {halo_nodes * B,  slices,           first_place,       a.share,          offset(at.value),
          offset(at.halo), offset(at.slice), offset(at.column), offset(at.marked)};
}

/// The share that was opened.
template <class T, int B, bool on_chip>
__device__ __forceinline__ ResidentShare<T> share_at(const ResidentRecord& at, const ResidentMatrix<T>& a,
                                                     unsigned char* base) {
  ResidentShare<T> my;
  my.halo = at.halo;
  my.slices = at.slices;
  my.first_place = at.first_place;
  my.lanes = at.lanes;
  my.halo_node = carve<Index>(base, at.halo_node);
  my.slice_first = carve<Index>(base, at.slice_first);
  my.marked = carve<unsigned char>(base, at.marked);
  if constexpr (on_chip) {
    my.value = carve<T>(base, at.value);
    my.column = carve<std::uint16_t>(base, at.column);
  } else {
    my.value = a.value + Offset{my.first_place} * (warp * B * B);
    my.column = a.column + Offset{my.first_place} * warp;
  }
  return my;
}

/// Entries that the block's part of a matrix reads from others.
template <int B, class T>
__device__ __forceinline__ int halo_of(const ResidentMatrix<T>& matrix) {
  const EhybPart part = matrix.part[blockIdx.x];
  return (part.halo_end - part.halo_begin) * B;
}

/// Places of packets for a method, the same on the host's side.
NEWEL_HD PacketPlaces packet_places(Offset rows, int parts, const ResidentNeeds& needs) {
  return {rows, parts, static_cast<unsigned>(needs.buffers)};
}

/// The part of a block, its vectors not yet written; ends with the block in step.
template <class T, int B, ResidentPrecond precond, ResidentStorage storage, bool across = false>
__device__ ResidentPart<T, across> open_part(const ResidentArgs<T>& args, const ResidentNeeds& needs,
                                             unsigned char* base) {
  constexpr int of_precond = matrices_of(precond), L = lead_block<precond, B>;
  constexpr bool on_chip = stays_on_chip(storage);
  const int parts = across ? args.across.parts : static_cast<int>(gridDim.x);
  ResidentPart<T, across> my;
  int halo = 0;
  if constexpr (is_by_rows(storage)) {
    my.first_row = args.rows_of_a.first_row[blockIdx.x];
    my.own = args.rows_of_a.first_row[blockIdx.x + 1] - static_cast<int>(my.first_row);
  } else {
    const EhybPart part = args.a.part[blockIdx.x];
    my.own = (part.node_end - part.node_begin) * B;
    my.first_row = Offset{part.node_begin} * B;
    my.halo_before = part.halo_begin * B;
    halo = halo_of<B>(args.a);
    if constexpr (of_precond > 0) halo = max(halo, halo_of<L>(args.first));
    if constexpr (of_precond > 1) halo = max(halo, halo_of<L>(args.second));
  }
  my.reach = my.own + halo;
  ResidentSharedMemory memory;
  const ResidentVectorSpace at = take_vectors<T>(memory, needs, my.own, my.reach, parts);
  my.with_halo = carve<T>(base, at.vectors);
  my.own_only = my.with_halo + needs.vectors * my.reach;
  const PacketPlaces places = packet_places(across ? args.across.rows : args.rows, parts, needs);
  my.exchange = {args.posted, carve<double>(base, at.sums), places, args.epoch};
  if constexpr (across) my.exchange.others = keep_here(args.across);
  my.base = base;
  if constexpr (is_by_rows(storage)) {
    my.rows = open_rows<on_chip>(args.rows_of_a, memory, base);
  } else if constexpr (of_precond > 0) {
    my.record = carve<ResidentRecord>(base, take_records(memory, 1 + of_precond));
    const auto keep = [&](int k, const ResidentRecord& record) {
      if (threadIdx.x == 0) my.record[k] = record;
    };
    keep(0, open_share<T, B, on_chip>(args.a, memory, base));
    keep(1, open_share<T, L, on_chip>(args.first, memory, base));
    if constexpr (of_precond > 1) keep(2, open_share<T, L, on_chip>(args.second, memory, base));
  } else {
    my.a = share_at<T, B, on_chip>(open_share<T, B, on_chip>(args.a, memory, base), args.a, base);
  }
  __syncthreads();
  return my;
}

/// A and the matrices of M, where they are wanted: several are read anew.
template <int B, ResidentPrecond precond, ResidentStorage storage, class T, bool across>
__device__ __forceinline__ auto matrix_of(const ResidentArgs<T>& args, const ResidentPart<T, across>& my) {
  if constexpr (is_by_rows(storage)) {
    return my.rows;
  } else if constexpr (matrices_of(precond) > 0) {
    return share_at<T, B, stays_on_chip(storage)>(my.record[0], args.a, my.base);
  } else {
    return my.a;
  }
}
template <int L, bool on_chip, class T, bool across>
__device__ __forceinline__ ResidentShare<T> first_of(const ResidentArgs<T>& args, const ResidentPart<T, across>& my) {
  return share_at<T, L, on_chip>(my.record[1], args.first, my.base);
}
template <int L, bool on_chip, class T, bool across>
__device__ __forceinline__ ResidentShare<T> second_of(const ResidentArgs<T>& args,
                                                      const ResidentPart<T, across>& my) {
  return share_at<T, L, on_chip>(my.record[2], args.second, my.base);
}

/// What reads the recurrence first: the halo of its vectors is the one that this needs.
template <int B, ResidentPrecond precond, ResidentStorage storage, class T, bool across>
__device__ __forceinline__ auto lead_of(const ResidentArgs<T>& args, const ResidentPart<T, across>& my) {
  if constexpr (matrices_of(precond) > 0) {
    return first_of<lead_block<precond, B>, stays_on_chip(storage)>(args, my);
  } else {
    return matrix_of<B, precond, storage>(args, my);
  }
}

/// Own entries of a vector in memory.
template <class T, bool across>
__device__ void load_own(const ResidentPart<T, across>& my, const T* from, T* to) {
  for (int i = static_cast<int>(threadIdx.x); i < my.own; i += static_cast<int>(blockDim.x)) {
    to[i] = from[my.first_row + i];
  }
}
template <class T, bool across>
__device__ void store_own(const ResidentPart<T, across>& my, const T* from, T* to) {
  for (int i = static_cast<int>(threadIdx.x); i < my.own; i += static_cast<int>(blockDim.x)) {
    to[my.first_row + i] = from[i];
  }
}

/// What a lane holds of what comes next.
template <class T, int B, ResidentStorage storage>
using ResidentPlaces = std::conditional_t<is_by_rows(storage), ResidentEntries<T, stays_on_chip(storage)>,
                                          EhybPlaces<T, B, resident_batch<T, B>>>;

template <bool on_chip>
using LoadValue = std::conditional_t<on_chip, LoadHere, LoadOnce>;

/// A warp's way through its slices.
struct ResidentRun {
  int slice, k, last;
};

/// The places of a slice; those of the warp's first one where there is no such slice, for the pass after this.
template <class T>
__device__ __forceinline__ ResidentRun run_of(const ResidentShare<T>& a, int slice) {
  const int own = static_cast<int>(threadIdx.x / warp), at = slice < a.slices ? slice : own;
  if (at >= a.slices) return {slice, 0, 0};
  return {slice, a.slice_first[at] - a.first_place, a.slice_first[at + 1] - a.first_place};
}

/// Loads the first values of a pass over the matrix.
template <int B, bool on_chip, class T, int U>
__device__ __forceinline__ void open_pass(const ResidentShare<T>& a, int, EhybPlaces<T, B, U>& ahead) {
  const ResidentRun run = run_of(a, static_cast<int>(threadIdx.x / warp));
  load_places<LoadValue<on_chip>>(a.column, a.value, run.k, run.last - run.k, ahead);
}

/// Calls `row(i, sum)` for every own row i with the product of its entries and `x`, by one lane each. A warp asks
/// for what comes next before it adds what it has; behind its last slice that is the beginning of the next pass,
/// whose values are in flight while the blocks synchronise, unless `again` is false. Where nothing is loaded
/// ahead, `at_once` columns of a block are under way.
template <int B, bool on_chip, int at_once = B, bool again = true, class T, int U, class Row>
__device__ __forceinline__ void for_each_row(const ResidentShare<T>& a, int own, const T* x,
                                             EhybPlaces<T, B, U>& ahead, const Row& row) {
  const int lane = threadIdx.x % warp, warps = static_cast<int>(blockDim.x / warp);
  const ResidentRun nothing = {a.slices, 0, 0};
  T sums[B] = {};
  ResidentRun run = run_of(a, static_cast<int>(threadIdx.x / warp));
  while (run.slice < a.slices) {
    bool ends = true;
    ResidentRun then = run;
    if constexpr (U > 0) {
      ends = run.k + U >= run.last;
      then.k += U;
      if (ends) then = again || run.slice + warps < a.slices ? run_of(a, run.slice + warps) : nothing;
      EhybPlaces<T, B, U> next;
      load_places<LoadValue<on_chip>>(a.column, a.value, then.k, then.last - then.k, next);
      add_places(ahead, run.last - run.k, x, sums);
      ahead = next;
    } else {
#pragma unroll 1
      for (; run.k < run.last; ++run.k) add_place<LoadValue<on_chip>, at_once>(a.column, a.value, run.k, x, sums);
      then = run_of(a, run.slice + warps);
    }
    if (ends) {
      for (int step = 1; step < a.lanes; step *= 2) {
#pragma unroll
        for (int d = 0; d < B; ++d) sums[d] += __shfl_xor_sync(0xffffffffu, sums[d], step);
      }
      const int node = (run.slice * warp + lane) / a.lanes;
      const bool writes = node * B < own && (lane & (a.lanes - 1)) == 0;
#pragma unroll
      for (int d = 0; d < B; ++d) {
        if (writes) row(node * B + d, sums[d]);
        sums[d] = 0;
      }
    }
    run = then;
  }
}

}  // namespace
}  // namespace newel::detail
