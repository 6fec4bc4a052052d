// SPDX-License-Identifier: Apache-2.0
/// Grid synchronisation of a resident kernel: sums and vector entries, each posted together with the number of the
/// synchronisation, so that the reader knows whether it has arrived. Internal.
#pragma once

#include <cstdint>
#include <type_traits>

#include <newel/core/types.hpp>
#include "solver/krylov/resident/resident_across.hpp"
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
  static constexpr int most_sums = 4;  ///< of a synchronisation
  /// From a block's sum to the next block's: 64 bytes, in which it has its place in every buffer. Measured on an
  /// H200, 132 blocks, three sums: 1.20 to 1.28 us a synchronisation, wherever the packets lie in memory; with the
  /// sums of a block side by side 1.6 to 2.2 us, by where they lie, as all blocks wait for one piece of memory that
  /// several warps write.
  static constexpr int packets_per_sum = 8;

  std::uint64_t* posted;
  double* scratch;  ///< shared memory
  Offset rows;
  int parts;
  unsigned buffers;  ///< 2 or 4
  unsigned epoch;    ///< of the last synchronisation; the current one is the next
  std::conditional_t<across, const ResidentAcross*, NoOthers> others;

  /// Packets for `rows` entries of T and the sums of `parts` blocks; zero before the first synchronisation.
  template <class T>
  static std::int64_t packets(Offset rows, Offset parts, int buffers) {
    return buffers * rows * packets_per_entry<T>() + parts * most_sums * packets_per_sum;
  }
  template <class T>
  NEWEL_HD static constexpr int packets_per_entry() {
    return sizeof(T) == 8 ? 2 : 1;
  }
  /// The length of `scratch` for synchronisations of at most `sums` sums: first those of the warps, then those of the
  /// blocks.
  NEWEL_HD static constexpr std::size_t scratch_length(int sums, int parts) {
    return static_cast<std::size_t>(most_sums * 32 + sums * parts);
  }

  __device__ unsigned now() const { return epoch + 1; }
  __device__ int buffer() const { return static_cast<int>(now() & (buffers - 1)); }

  // Places of packets among those of a device.
  __device__ Offset sum_place(int block, int k) const {
    return (k * parts + block) * packets_per_sum + buffer() * (packets_per_sum / static_cast<int>(buffers));
  }
  // Entries stand behind the sums.
  template <class T>
  __device__ Offset entry_place(Offset row) const {
    return parts * most_sums * packets_per_sum + (buffer() * rows + row) * packets_per_entry<T>();
  }
  __device__ std::uint64_t* sum_packet(int block, int k) const { return posted + sum_place(block, k); }
  template <class T>
  __device__ std::uint64_t* entry_packet(Offset row) const {
    return posted + entry_place<T>(row);
  }

  __device__ static void put(std::uint64_t* to, double value, unsigned mark) {
    const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
    const std::uint64_t stamp = std::uint64_t{mark} << 32;
    const std::uint64_t low = (bits & 0xffffffffu) | stamp, high = (bits >> 32) | stamp;
    if constexpr (across) {
      asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(low), "l"(high) : "memory");
    } else {
      asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(low), "l"(high) : "memory");
    }
  }
  __device__ static void put(std::uint64_t* to, float value, unsigned mark) {
    const std::uint64_t packet = static_cast<std::uint32_t>(__float_as_int(value)) | (std::uint64_t{mark} << 32);
    if constexpr (across) {
      asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(packet) : "memory");
    } else {
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(packet) : "memory");
    }
  }

  /// Reads what may not be there yet; true where it is.
  __device__ static bool get(const std::uint64_t* from, unsigned mark, double& value) {
    std::uint64_t low, high;
    if constexpr (across) {
      asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(from) : "memory");
    } else {
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(from) : "memory");
    }
    value = __longlong_as_double(static_cast<long long>((high << 32) | (low & 0xffffffffu)));
    return static_cast<unsigned>(low >> 32) == mark && static_cast<unsigned>(high >> 32) == mark;
  }
  __device__ static bool get(const std::uint64_t* from, unsigned mark, float& value) {
    std::uint64_t packet;
    if constexpr (across) {
      asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(packet) : "l"(from) : "memory");
    } else {
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(packet) : "l"(from) : "memory");
    }
    value = __int_as_float(static_cast<int>(packet & 0xffffffffu));
    return static_cast<unsigned>(packet >> 32) == mark;
  }
  /// Posts the number alone, behind all that the block has written before it was synchronised.
  __device__ static void release(std::uint64_t* to, unsigned mark) {
    const std::uint64_t packet = std::uint64_t{mark} << 32;
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(packet) : "memory");
  }
  /// Whether it is there: then what that block has written is too. Drops what the multiprocessor has cached.
  __device__ static bool acquire(const std::uint64_t* from, unsigned mark) {
    std::uint64_t packet;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(packet) : "l"(from) : "memory");
    return static_cast<unsigned>(packet >> 32) == mark;
  }

  /// `row`: of this device. `readers`: not 0; across, bit d is set if device d reads it.
  template <class T>
  __device__ void post_entry(Offset row, T value, [[maybe_unused]] unsigned readers) const {
    if constexpr (across) {
      const Offset place = entry_place<T>(others->first_row + row);
      for (; readers != 0; readers &= readers - 1) put(others->posted[__ffs(readers) - 1] + place, value, now());
    } else {
      put(entry_packet<T>(row), value, now());
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
    static_assert(sums <= most_sums);
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
        const Offset place = sum_place(others->first_part + static_cast<int>(blockIdx.x), warp);
        if (lane < others->devices) put(others->posted[lane] + place, total, now());
      } else {
        if (lane == 0) put(sum_packet(static_cast<int>(blockIdx.x), warp), total, now());
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
        for (int u = 0; u < at_once; ++u) there = get(from[u], now(), value[u]) && there;
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
    if (threadIdx.x == 0) release(sum_packet(static_cast<int>(blockIdx.x), 0), now());
    for (int block = static_cast<int>(threadIdx.x); block < parts; block += static_cast<int>(blockDim.x)) {
      while (!acquire(sum_packet(block, 0), now())) {
      }
    }
    __syncthreads();
    ++epoch;
  }

  /// The sums of all blocks, the same bits in every thread of every block; the whole block, which is synchronised
  /// afterwards. Ends the synchronisation.
  template <int sums>
  __device__ void collect_sums(double (&total)[sums]) {
    double* const of_blocks = scratch + most_sums * 32;
    for (int i = static_cast<int>(threadIdx.x); i < sums * parts; i += static_cast<int>(blockDim.x)) {
      const int k = i / parts, block = i % parts;
      double value;
      int tries = 0;
      while (!get(sum_packet(block, k), now(), value)) {
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
