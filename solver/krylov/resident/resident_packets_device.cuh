// SPDX-License-Identifier: Apache-2.0
/// Packets of a resident kernel: where they lie in a device's memory, and how one is written and read at once.
/// Internal.
#pragma once

#include <cstdint>

#include <newel/core/types.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// Where packets lie among those of a device: first those of sums, then those of entries. `number`: of the
/// synchronisation; its packets are in buffer number % buffers.
struct PacketPlaces {
  static constexpr int most_sums = 4;  ///< of a synchronisation
  /// From a block's sum to the next block's: 64 bytes, in which it has its place in every buffer. Measured on an
  /// H200, 132 blocks, three sums: 1.20 to 1.28 us a synchronisation, wherever the packets lie in memory; with the
  /// sums of a block side by side 1.6 to 2.2 us, by where they lie, as all blocks wait for one piece of memory that
  /// several warps write.
  static constexpr int packets_per_sum = 8;

  Offset rows;       ///< that have entries
  int parts;         ///< blocks that have sums
  unsigned buffers;  ///< 2 or 4

  template <class T>
  NEWEL_HD static constexpr int packets_per_entry() {
    return sizeof(T) == 8 ? 2 : 1;
  }
  /// How many there are, for entries of T; zero before the first synchronisation.
  template <class T>
  std::int64_t count() const {
    return buffers * rows * packets_per_entry<T>() + std::int64_t{parts} * most_sums * packets_per_sum;
  }

  __device__ int buffer(unsigned number) const { return static_cast<int>(number & (buffers - 1)); }
  __device__ Offset of_sum(int block, int k, unsigned number) const {
    return (k * parts + block) * packets_per_sum + buffer(number) * (packets_per_sum / static_cast<int>(buffers));
  }
  template <class T>
  __device__ Offset of_entry(Offset row, unsigned number) const {
    return parts * most_sums * packets_per_sum + (buffer(number) * rows + row) * packets_per_entry<T>();
  }
};

/// Stores and loads of packets. `number`: of the synchronisation, which a packet carries beside half of a double or a
/// float. `across`: blocks of other devices read and write them too.
template <bool across>
struct PacketMemory {
  __device__ static void put(std::uint64_t* to, double value, unsigned number) {
    const auto bits = static_cast<std::uint64_t>(__double_as_longlong(value));
    const std::uint64_t stamp = std::uint64_t{number} << 32;
    const std::uint64_t low = (bits & 0xffffffffu) | stamp, high = (bits >> 32) | stamp;
    if constexpr (across) {
      asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(low), "l"(high) : "memory");
    } else {
      asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(low), "l"(high) : "memory");
    }
  }
  __device__ static void put(std::uint64_t* to, float value, unsigned number) {
    const std::uint64_t packet = static_cast<std::uint32_t>(__float_as_int(value)) | (std::uint64_t{number} << 32);
    if constexpr (across) {
      asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(packet) : "memory");
    } else {
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(packet) : "memory");
    }
  }

  /// Reads what may not be there yet; true if it is.
  __device__ static bool get(const std::uint64_t* from, unsigned number, double& value) {
    std::uint64_t low, high;
    if constexpr (across) {
      asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(from) : "memory");
    } else {
      asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(from) : "memory");
    }
    value = __longlong_as_double(static_cast<long long>((high << 32) | (low & 0xffffffffu)));
    return static_cast<unsigned>(low >> 32) == number && static_cast<unsigned>(high >> 32) == number;
  }
  __device__ static bool get(const std::uint64_t* from, unsigned number, float& value) {
    std::uint64_t packet;
    if constexpr (across) {
      asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(packet) : "l"(from) : "memory");
    } else {
      asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(packet) : "l"(from) : "memory");
    }
    value = __int_as_float(static_cast<int>(packet & 0xffffffffu));
    return static_cast<unsigned>(packet >> 32) == number;
  }

  /// Posts the number alone, after all that the block has written before it was synchronised. On one device.
  __device__ static void release(std::uint64_t* to, unsigned number) {
    const std::uint64_t packet = std::uint64_t{number} << 32;
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(packet) : "memory");
  }
  /// Whether it is there: then what that block has written is too. Drops what the multiprocessor has cached.
  __device__ static bool acquire(const std::uint64_t* from, unsigned number) {
    std::uint64_t packet;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(packet) : "l"(from) : "memory");
    return static_cast<unsigned>(packet >> 32) == number;
  }
};

}  // namespace newel::detail
