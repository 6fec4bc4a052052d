// SPDX-License-Identifier: Apache-2.0
/// A block's rows of a CSR matrix in a resident solve, and their product with a vector that all blocks publish in
/// memory. Internal.
#pragma once

#include <type_traits>

#include "solver/krylov/resident/resident_shared_memory_device.cuh"
#include "spmv/ehyb/ehyb_places_device.cuh"

namespace newel::detail {
namespace {

/// A block's share. Entries are counted from its first one.
template <class T>
struct ResidentRowShare {
  static constexpr int halo = 0;

  const Index* row;  ///< where the own rows begin, in shared memory; one more: the end of the last one
  const Index* column;
  const T* value;
  T* operand;  ///< of all blocks
  int lane_bits;
};

/// The first entries of a row, as a lane holds them where they stream by.
template <class T>
struct ResidentBatch {
  static constexpr int size = resident_lane_entries[1];

  Index column[size];  ///< -1: none
  T value[size];
};

/// What a lane holds of the rows that come next: nothing where all entries stay on the chip.
template <class T, bool on_chip>
struct ResidentEntries {};
template <class T>
struct ResidentEntries<T, false> {
  static constexpr int rows = 4;  ///< even

  ResidentBatch<T> row[rows];
};

/// Copies what stays on the chip; not before the block has synchronised is it there.
template <bool on_chip, class T>
__device__ ResidentRowShare<T> open_rows(const ResidentRows<T>& a, ResidentSharedMemory& memory,
                                         unsigned char* base) {
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const Index first_row = a.first_row[blockIdx.x];
  const int own = a.first_row[blockIdx.x + 1] - first_row;
  const std::int32_t first = a.row_ptr[first_row];
  const int entries = a.row_ptr[first_row + own] - first;
  const ResidentRowSpace at = take_rows<T>(memory, own, entries, on_chip);
  auto* const row = reinterpret_cast<Index*>(base + at.row);
  for (int i = thread; i <= own; i += threads) row[i] = a.row_ptr[first_row + i] - first;
  ResidentRowShare<T> my{row, a.column + first, a.value + first, a.operand, a.lane_bits};
  if constexpr (on_chip) {
    auto* const column = reinterpret_cast<Index*>(base + at.column);
    auto* const value = reinterpret_cast<T*>(base + at.value);
    for (int k = thread; k < entries; k += threads) column[k] = load_once(my.column + k);
    for (int k = thread; k < entries; k += threads) value[k] = load_once(my.value + k);
    my.column = column;
    my.value = value;
  }
  return my;
}

/// A lane's entries of a row.
struct ResidentRowRun {
  int k, last;
};

template <class T>
__device__ __forceinline__ ResidentRowRun run_of(const ResidentRowShare<T>& a, int own, int i) {
  if (i >= own) return {0, 0};
  const int lane = static_cast<int>(threadIdx.x) & ((1 << a.lane_bits) - 1);
  return {a.row[i] + lane, a.row[i + 1]};
}

/// Rows of the thread's group of lanes: every `together`-th of the block, from `mine` on, in so many rounds.
struct ResidentRounds {
  int mine, together, count;

  template <class T>
  __device__ ResidentRounds(const ResidentRowShare<T>& a, int own)
      : mine(static_cast<int>(threadIdx.x) >> a.lane_bits),
        together(static_cast<int>(blockDim.x) >> a.lane_bits),
        count((own + together - 1) / together) {}

  __device__ int row(int round) const { return mine + round * together; }
};

/// Ends a row: its lanes' sums come together, and the first lane calls `row`.
template <class T, class Row>
__device__ __forceinline__ void end_row(const ResidentRowShare<T>& a, int own, int i, T sum, const Row& row) {
  const int lanes = 1 << a.lane_bits;
  for (int step = 1; step < lanes; step *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (i < own && (threadIdx.x & static_cast<unsigned>(lanes - 1)) == 0) row(i, sum);
}

/// The operand of a lane's `size` entries from `run.k` on. It changes while the kernel runs, so that it is not loaded
/// as a constant.
template <int size, class T>
__device__ __forceinline__ void gather_operand(const ResidentRowShare<T>& a, const ResidentRowRun& run,
                                               T (&at)[size]) {
#pragma unroll
  for (int u = 0; u < size; ++u) {
    const int k = run.k + (u << a.lane_bits);
    at[u] = k < run.last ? a.operand[a.column[k]] : T(0);
  }
}

template <int size, class T>
__device__ __forceinline__ T add_products(const ResidentRowShare<T>& a, const ResidentRowRun& run,
                                          const T (&at)[size], T sum) {
#pragma unroll
  for (int u = 0; u < size; ++u) {
    const int k = run.k + (u << a.lane_bits);
    if (k < run.last) sum += a.value[k] * at[u];
  }
  return sum;
}

/// Entries behind the first `size << lane_bits` of a row.
template <int size, class T>
__device__ __forceinline__ T add_rest(const ResidentRowShare<T>& a, ResidentRowRun run, T sum) {
  const int batch = size << a.lane_bits;
  for (run.k += batch; run.k < run.last; run.k += batch) {
    T at[size];
    gather_operand(a, run, at);
    sum = add_products(a, run, at, sum);
  }
  return sum;
}

/// Calls `row(i, sum)` for every own row i with the product of its entries and what was published, by one lane each.
/// Groups of lanes take rows in turn, and ask for the operand of the next one before they add up the one that they
/// have. The vector is not read where it is kept.
template <int B, bool on_chip, int at_once = B, bool again = true, class T, class Row>
__device__ __forceinline__ void for_each_row(const ResidentRowShare<T>& a, int own, const T*,
                                             ResidentEntries<T, true>&, const Row& row) {
  constexpr int size = resident_lane_entries[0];
  const ResidentRounds rounds(a, own);
  T at[2][size];
  ResidentRowRun run = run_of(a, own, rounds.mine);
  gather_operand(a, run, at[0]);
  for (int round = 0; round < rounds.count; round += 2) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const int i = rounds.row(round + q);
      const ResidentRowRun then = run_of(a, own, i + rounds.together);
      gather_operand(a, then, at[1 - q]);
      end_row(a, own, i, add_rest<size>(a, run, add_products(a, run, at[q], T(0))), row);
      run = then;
    }
  }
}
template <int B, bool on_chip, class T>
__device__ __forceinline__ void open_pass(const ResidentRowShare<T>&, int, ResidentEntries<T, true>&) {}

template <class T>
__device__ __forceinline__ void load_entries(const ResidentRowShare<T>& a, const ResidentRowRun& run,
                                             ResidentBatch<T>& to) {
#pragma unroll
  for (int u = 0; u < ResidentBatch<T>::size; ++u) {
    const int k = run.k + (u << a.lane_bits);
    const bool there = k < run.last;
    to.column[u] = there ? load_once(a.column + k) : -1;
    to.value[u] = there ? load_once(a.value + k) : T(0);
  }
}

/// Loads the first entries of a pass over a matrix that streams by.
template <int B, bool on_chip, class T>
__device__ __forceinline__ void open_pass(const ResidentRowShare<T>& a, int own, ResidentEntries<T, false>& ahead) {
  const ResidentRounds rounds(a, own);
#pragma unroll
  for (int q = 0; q < ResidentEntries<T, false>::rows; ++q) {
    load_entries(a, run_of(a, own, rounds.row(q)), ahead.row[q]);
  }
}

/// The same where the entries stream by: those of `ResidentEntries::rows` rows are under way, and the operand of the
/// next row. What was loaded is not moved, which would wait for it. Behind the last rows the first ones of the next
/// pass follow.
template <int B, bool on_chip, int at_once = B, bool again = true, class T, class Row>
__device__ __forceinline__ void for_each_row(const ResidentRowShare<T>& a, int own, const T*,
                                             ResidentEntries<T, false>& ahead, const Row& row) {
  constexpr int size = ResidentBatch<T>::size, rows = ResidentEntries<T, false>::rows;
  const ResidentRounds rounds(a, own);
  T at[2][size];
  const auto gather = [&](const ResidentBatch<T>& entries, T(&to)[size]) {
#pragma unroll
    for (int u = 0; u < size; ++u) to[u] = entries.column[u] >= 0 ? a.operand[entries.column[u]] : T(0);
  };
  gather(ahead.row[0], at[0]);
  for (int round = 0; round < rounds.count; round += rows) {
    const int next_round = round + rows < rounds.count ? round + rows : 0;
#pragma unroll
    for (int q = 0; q < rows; ++q) {
      const int i = rounds.row(round + q);
      if (q + 1 < rows || next_round > 0) gather(ahead.row[(q + 1) % rows], at[(q + 1) % 2]);
      T sum = 0;
#pragma unroll
      for (int u = 0; u < size; ++u) sum += ahead.row[q].value[u] * at[q % 2][u];
      load_entries(a, run_of(a, own, rounds.row(next_round + q)), ahead.row[q]);
      end_row(a, own, i, add_rest<size>(a, run_of(a, own, i), sum), row);
    }
  }
}

}  // namespace
}  // namespace newel::detail
