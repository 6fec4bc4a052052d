// SPDX-License-Identifier: Apache-2.0
/// Grid synchronisation of a resident kernel: sums and vector entries, each posted together with the number of the
/// synchronisation, so that the reader knows whether it has arrived. Internal.
#pragma once

#include <cstdint>
#include <type_traits>

#include <newel/core/types.hpp>
#include "solver/krylov/resident/resident_across.hpp"
#include "solver/krylov/resident/resident_packets_device.cuh"
#include "spmv/product_device.cuh"

namespace newel::detail {

/// A copy in the block's shared memory: a kernel has no registers for it. To be read after the next barrier.
__device__ inline const ResidentAcross* keep_here(const ResidentAcross& across) {
  __shared__ ResidentAcross here;
  if (threadIdx.x == 0) here = across;
  return &here;
}

/// What an exchange on one device knows of others: nothing.
struct NoOthers {};

/// No counter and no fence: half of a value and the number of the synchronisation form one 64-bit packet, which is
/// written and read atomically. Packets of synchronisation m are in buffer m % buffers. A block that writes those of
/// m + buffers has read all sums of a synchronisation after m, and by posting its sums each block has confirmed that
/// it needs nothing of m any more. With sums in every synchronisation two buffers are enough, with sums in every
/// second or third one four.
///
/// `across`: the blocks of several devices, which store packets in the memory of those that read them. Blocks and
/// rows are numbered through all devices. Numbers of synchronisations continue from launch to launch without a gap,
/// so that the rule above also holds for a device that is in the next launch already.
template <bool across>
struct ExchangeOf {
  using Memory = PacketMemory<across>;

  std::uint64_t* posted;
  double* scratch;  ///< shared memory
  PacketPlaces places;
  unsigned epoch;  ///< of the last synchronisation; the current one is the next
  std::conditional_t<across, const ResidentAcross*, NoOthers> others;

  /// The length of `scratch` for synchronisations of at most `sums` sums: first those of the warps, then those of the
  /// blocks.
  NEWEL_HD static constexpr std::size_t scratch_length(int sums, int parts) {
    return static_cast<std::size_t>(PacketPlaces::most_sums * 32 + sums * parts);
  }

  __device__ unsigned now() const { return epoch + 1; }
  __device__ std::uint64_t* sum_packet(int block, int k) const { return posted + places.of_sum(block, k, now()); }
  template <class T>
  __device__ std::uint64_t* entry_packet(Offset row) const {
    return posted + places.of_entry<T>(row, now());
  }

  /// `row`: of this device. `readers`: not 0; across, bit d is set if device d reads it.
  template <class T>
  __device__ void post_entry(Offset row, T value, [[maybe_unused]] unsigned readers) const {
    if constexpr (across) {
      const Offset place = places.of_entry<T>(others->first_row + row, now());
      for (; readers != 0; readers &= readers - 1) {
        Memory::put(others->posted[__ffs(readers) - 1] + place, value, now());
      }
    } else {
      Memory::put(entry_packet<T>(row), value, now());
    }
  }

  /// Whether to give up after so many tries: a device of another rank will send nothing any more.
  __device__ bool gives_up([[maybe_unused]] int tries) const {
    if constexpr (across) {
      constexpr int between_looks = 1024;
      return tries % between_looks == 0 && *static_cast<const volatile unsigned*>(others->failed) != 0;
    }
    return false;
  }

  /// Adds the block's sums and posts them; the whole block.
  template <int sums>
  __device__ void post_sums(const double (&mine)[sums]) const {
    static_assert(sums <= PacketPlaces::most_sums);
    double* const of_warps = scratch;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
#pragma unroll
    for (int k = 0; k < sums; ++k) {
      const double total = warp_sum(mine[k]);
      if (lane == 0) of_warps[k * 32 + warp] = total;
    }
    __syncthreads();
    if (warp < sums) {
      const double total = warp_sum(lane < warps ? of_warps[warp * 32 + lane] : 0.0);
      if constexpr (across) {
        const Offset place = places.of_sum(others->first_part + static_cast<int>(blockIdx.x), warp, now());
        if (lane < others->devices) Memory::put(others->posted[lane] + place, total, now());
      } else {
        if (lane == 0) Memory::put(sum_packet(static_cast<int>(blockIdx.x), warp), total, now());
      }
    }
  }

  /// The synchronisation that ended last.
  __device__ ExchangeOf ended() const {
    ExchangeOf before = *this;
    --before.epoch;
    return before;
  }

  /// to[i] = the entry of row row_of(i), for i < count, when it has come.
  template <class T, class RowOf>
  __device__ void collect_entries(int count, const RowOf& row_of, T* to) const {
    take_entries<T>(count, row_of, [&](int i, T value) { to[i] = value; });
  }

  /// take(i, the entry of row row_of(i)) for i < count, when it has come. Threads are counted from the last one, the
  /// first ones have sums to wait for.
  template <class T, class RowOf, class Take>
  __device__ __forceinline__ void take_entries(int count, const RowOf& row_of, const Take& take) const {
    constexpr int at_once = 4;
    const int threads = static_cast<int>(blockDim.x);
    for (int first = threads - 1 - static_cast<int>(threadIdx.x); first < count; first += at_once * threads) {
      const std::uint64_t* from[at_once];
      T value[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const int i = first + u * threads;
        from[u] = entry_packet<T>(row_of(i < count ? i : first));
      }
      bool there;
      int tries = 0;
      do {
        there = true;
#pragma unroll
        for (int u = 0; u < at_once; ++u) there = Memory::get(from[u], now(), value[u]) && there;
      } while (!there && !gives_up(++tries));
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        if (first + u * threads < count) take(first + u * threads, value[u]);
      }
    }
  }

  /// What the threads of any block have written to memory before this is there for all of them afterwards. Ends the
  /// synchronisation, with the block synchronised.
  __device__ void share_memory() {
    __syncthreads();
    if (threadIdx.x == 0) Memory::release(sum_packet(static_cast<int>(blockIdx.x), 0), now());
    for (int block = static_cast<int>(threadIdx.x); block < places.parts; block += static_cast<int>(blockDim.x)) {
      while (!Memory::acquire(sum_packet(block, 0), now())) {
      }
    }
    __syncthreads();
    ++epoch;
  }

  /// The sums of all blocks, the same bits in every thread of every block; the whole block, which is synchronised
  /// afterwards. Ends the synchronisation.
  template <int sums>
  __device__ void collect_sums(double (&total)[sums]) {
    double* const of_blocks = scratch + PacketPlaces::most_sums * 32;
    const int parts = places.parts;
    for (int i = static_cast<int>(threadIdx.x); i < sums * parts; i += static_cast<int>(blockDim.x)) {
      const int k = i / parts, block = i % parts;
      double value;
      int tries = 0;
      while (!Memory::get(sum_packet(block, k), now(), value)) {
        if (gives_up(++tries)) break;
      }
      of_blocks[i] = value;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < sums; ++k) {
      double sum = 0;
      for (int i = threadIdx.x % 32; i < parts; i += 32) sum += of_blocks[k * parts + i];
      total[k] = warp_sum(sum);
    }
    ++epoch;
  }
};

using Exchange = ExchangeOf<false>;

}  // namespace newel::detail
