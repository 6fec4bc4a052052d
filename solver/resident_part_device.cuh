// SPDX-License-Identifier: Apache-2.0
/// A part of a resident solve: what its block keeps in shared memory, and the pass over its share of the matrix.
/// Internal.
#pragma once

#include <type_traits>

#include <purlin/solver/resident_cg.hpp>
#include <purlin/solver/resident_exchange_device.cuh>
#include <purlin/spmv/ehyb/ehyb_places_device.cuh>

namespace purlin::detail {
namespace {

constexpr int warp = 32;

struct ResidentTuning {
  static constexpr int threads = 512;                    ///< 128 registers each
  static constexpr int exchanges_beside_iterations = 8;  ///< of a launch: the opening, the end, and some to spare
};

/// Places of a slice that a lane asks for at once, by rows of a node: as many as fit the registers twice, as in
/// EHYB's own product. Of six rows one place alone is too much to hold beside another.
constexpr int resident_places[2][4] = {{0, 8, 3, 2}, {0, 12, 6, 4}};
template <class T, int B>
constexpr int resident_batch = B == 6 ? 0 : resident_places[sizeof(T) == 4][B % 4];

/// The square root of T's epsilon: what rounding may take from p.A p, of its terms, after many steps.
template <class T>
constexpr double resident_doubt = sizeof(T) == 8 ? 1.5e-8 : 3.5e-4;

template <class T>
struct ResidentArgs {
  const T *b, *d;
  T *x, *r, *p, *s;
  const unsigned char* marked;
  std::uint64_t* posted;
  ResidentLog* log;
  ResidentState before;  ///< what the launch before left
  double rel_tol, abs_tol;
  int iterations;
  unsigned epoch;
  bool first;
};

/// How a block's shared memory is shared out, in bytes; the same on both sides.
struct ResidentSpace {
  std::size_t u, r, s, w, d, p, x, value, sums, column, halo, slice, marked, end;
};

template <class T>
PURLIN_HD ResidentSpace resident_space(int own, int halo, int block, int slices, int places, int lanes, int parts,
                                       bool scaled, bool matrix) {
  const auto all = static_cast<std::size_t>(own + halo), mine = static_cast<std::size_t>(own);
  const auto slots = matrix ? static_cast<std::size_t>(places) * lanes : 0;
  ResidentSpace at{};
  std::size_t next = 0;
  const auto take = [&](std::size_t& where, std::size_t count, std::size_t bytes) {
    where = next = (next + bytes - 1) / bytes * bytes;
    next += count * bytes;
  };
  take(at.sums, static_cast<std::size_t>(Exchange::sums) * (parts + warp), sizeof(double));
  take(at.u, all, sizeof(T));
  take(at.r, all, sizeof(T));
  take(at.s, all, sizeof(T));
  take(at.w, all, sizeof(T));
  take(at.d, scaled ? all : 0, sizeof(T));
  take(at.p, mine, sizeof(T));
  take(at.x, mine, sizeof(T));
  take(at.value, slots * block * block, sizeof(T));
  take(at.halo, static_cast<std::size_t>(halo / block), sizeof(Index));
  take(at.slice, static_cast<std::size_t>(slices + 1), sizeof(Index));
  take(at.column, slots, sizeof(std::uint16_t));
  take(at.marked, static_cast<std::size_t>(own / block), 1);
  at.end = next;
  return at;
}

/// What a block works with.
template <class T>
struct ResidentPart {
  int own, halo;  ///< entries
  Offset first_row;
  int slices;
  Index first_place;
  T *u, *r, *s, *w, *d, *p, *x;  ///< own; u, r, s, w, d with the halo behind
  const T* value;
  const std::uint16_t* column;
  Index* halo_node;
  Index* slice_first;  ///< from the part's first slice on
  unsigned char* marked;
  Exchange exchange;
};

template <class V>
__device__ __forceinline__ V* carve(unsigned char* base, std::size_t at) {
  return reinterpret_cast<V*>(base + at);
}

/// Copies what stays on the chip; ends with the block in step.
template <class T, int B, bool scaled, bool on_chip>
__device__ ResidentPart<T> open_part(const EhybView<T>& a, const ResidentArgs<T>& args, unsigned char* base) {
  const EhybPart part = a.part[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  ResidentPart<T> my;
  my.own = (part.node_end - part.node_begin) * B;
  my.halo = (part.halo_end - part.halo_begin) * B;
  my.first_row = Offset{part.node_begin} * B;
  my.slices = part.slice_end - part.slice_begin;
  my.first_place = a.slice_first[part.slice_begin];
  const int places = a.slice_first[part.slice_end] - my.first_place;
  const ResidentSpace at =
      resident_space<T>(my.own, my.halo, B, my.slices, places, warp, static_cast<int>(gridDim.x), scaled, on_chip);
  my.u = carve<T>(base, at.u);
  my.r = carve<T>(base, at.r);
  my.s = carve<T>(base, at.s);
  my.w = carve<T>(base, at.w);
  my.d = carve<T>(base, at.d);
  my.p = carve<T>(base, at.p);
  my.x = carve<T>(base, at.x);
  my.halo_node = carve<Index>(base, at.halo);
  my.slice_first = carve<Index>(base, at.slice);
  my.marked = carve<unsigned char>(base, at.marked);
  my.exchange = {args.posted, carve<double>(base, at.sums), a.rows, static_cast<int>(gridDim.x), args.epoch};
  for (int i = thread; i <= my.slices; i += threads) my.slice_first[i] = a.slice_first[part.slice_begin + i];
  for (int i = thread; i < my.halo / B; i += threads) my.halo_node[i] = a.halo_node[part.halo_begin + i];
  for (int i = thread; i < my.own / B; i += threads) my.marked[i] = args.marked[part.node_begin + i];
  const T* value = a.value + Offset{my.first_place} * (warp * B * B);
  const std::uint16_t* column = a.column + Offset{my.first_place} * warp;
  if constexpr (on_chip) {
    T* const value_here = carve<T>(base, at.value);
    std::uint16_t* const column_here = carve<std::uint16_t>(base, at.column);
    for (int i = thread; i < places * (warp * B * B); i += threads) value_here[i] = load_once(value + i);
    for (int i = thread; i < places * warp; i += threads) column_here[i] = load_once(column + i);
    my.value = value_here;
    my.column = column_here;
  } else {
    my.value = value;
    my.column = column;
  }
  __syncthreads();
  return my;
}

/// Own entries of a vector in memory, and behind them what the halo needs of it.
template <int B, class T>
__device__ void load_with_halo(const ResidentPart<T>& my, const T* from, T* to) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < my.own; i += threads) to[i] = from[my.first_row + i];
  for (int i = thread; i < my.halo; i += threads) to[my.own + i] = from[Offset{my.halo_node[i / B]} * B + i % B];
}

/// What a lane holds of the places that come next.
template <class T, int B>
using ResidentPlaces = EhybPlaces<T, B, resident_batch<T, B>>;

template <bool on_chip>
using LoadNumber = std::conditional_t<on_chip, LoadHere, LoadOnce>;

/// A warp's way through its slices.
struct ResidentRun {
  int slice, k, last;
};

/// The places of a slice; those of the warp's first one where there is no such slice, for the pass after this.
template <class T>
__device__ __forceinline__ ResidentRun run_of(const ResidentPart<T>& my, int slice) {
  const int own = static_cast<int>(threadIdx.x / warp), at = slice < my.slices ? slice : own;
  if (at >= my.slices) return {slice, 0, 0};
  return {slice, my.slice_first[at] - my.first_place, my.slice_first[at + 1] - my.first_place};
}

/// Asks for the first numbers of a pass over the matrix.
template <int B, bool on_chip, class T>
__device__ __forceinline__ void open_pass(const ResidentPart<T>& my, ResidentPlaces<T, B>& ahead) {
  const ResidentRun run = run_of(my, static_cast<int>(threadIdx.x / warp));
  load_places<LoadNumber<on_chip>>(my.column, my.value, run.k, run.last - run.k, ahead);
}

/// Calls `row(i, sum)` for every own row i with the product of its entries and `my.u`, by one lane each. A warp asks
/// for what comes next before it adds what it has; behind its last slice that is the beginning of the next pass,
/// whose numbers are on their way while the blocks meet.
template <int B, bool on_chip, class T, class Row>
__device__ __forceinline__ void for_each_row(const EhybView<T>& a, const ResidentPart<T>& my,
                                             ResidentPlaces<T, B>& ahead, const Row& row) {
  constexpr int U = resident_batch<T, B>;
  const int lane = threadIdx.x % warp, warps = static_cast<int>(blockDim.x / warp);
  T sums[B] = {};
  ResidentRun run = run_of(my, static_cast<int>(threadIdx.x / warp));
  while (run.slice < my.slices) {
    bool ends = true;
    ResidentRun then = run;
    if constexpr (U > 0) {
      ends = run.k + U >= run.last;
      then.k += U;
      if (ends) then = run_of(my, run.slice + warps);
      ResidentPlaces<T, B> next;
      load_places<LoadNumber<on_chip>>(my.column, my.value, then.k, then.last - then.k, next);
      add_places(ahead, run.last - run.k, my.u, sums);
      ahead = next;
    } else {
      for (; run.k < run.last; ++run.k) add_place<LoadNumber<on_chip>>(my.column, my.value, run.k, my.u, sums);
      then = run_of(my, run.slice + warps);
    }
    if (ends) {
      for (int step = 1; step < a.share; step *= 2) {
#pragma unroll
        for (int d = 0; d < B; ++d) sums[d] += __shfl_xor_sync(0xffffffffu, sums[d], step);
      }
      const int node = (run.slice * warp + lane) / a.share;
      const bool writes = node * B < my.own && (lane & (a.share - 1)) == 0;
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
}  // namespace purlin::detail
