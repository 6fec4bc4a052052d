// SPDX-License-Identifier: Apache-2.0
/// Rows of a vector on their way between devices that reach each other's memory. Internal.
#pragma once

#include "core/ranks/peer_rows.hpp"

namespace newel::detail {

__device__ __forceinline__ void store_count(std::uint64_t* to, std::uint64_t count) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(count) : "memory");
}
__device__ __forceinline__ std::uint64_t load_count(const std::uint64_t* from) {
  std::uint64_t count;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(count) : "l"(from) : "memory");
  return count;
}

/// Stores x[row] where other devices read it; row >= to.first.
template <class T>
__device__ __forceinline__ void send_row(const PeerRows<T>& to, std::int64_t row, T value) {
  Index k = to.place[row - to.first];
  if (k < 0) return;
  for (bool more = true; more; ++k) {
    const std::uint64_t target = to.target[k];
    *reinterpret_cast<T*>(target & ~std::uint64_t{1}) = value;
    more = (target & 1) != 0;
  }
}

/// Called by one thread of the kernel that sends.
template <class T>
__device__ __forceinline__ void count_round(const PeerRows<T>& to) {
  ++*to.rounds;
}

/// Called by one thread of each block of the next kernel that waits for rows, before it waits, and of the first block,
/// after the end of the kernel that sends. All store the same number. CUDA promises no order of blocks: if only one
/// told, it might never begin while others wait on all multiprocessors.
__device__ __forceinline__ void tell_readers(const PeerArrivals& sent) {
  __threadfence_system();
  for (int r = 0; r < sent.readers; ++r) store_count(sent.tell[r], *sent.rounds);
}

/// Waits for the rows of all senders, or for a rank that fails. The whole block, which may read them after it.
__device__ __forceinline__ void await_rows(const PeerArrivals& from) {
  constexpr int between_looks = 1024;
  if (static_cast<int>(threadIdx.x) < from.senders) {
    const std::uint64_t* const told = from.told[threadIdx.x];
    const std::uint64_t wanted = *from.rounds;
    for (int tries = 1; load_count(told) < wanted; ++tries) {
      if (tries % between_looks == 0 && *static_cast<const volatile unsigned*>(from.failed) != 0) break;
    }
    __threadfence_system();
  }
  __syncthreads();
}

}  // namespace newel::detail
