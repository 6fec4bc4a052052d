// SPDX-License-Identifier: Apache-2.0
/// Packets between devices that reach each other's memory. Internal.
#pragma once

#include "core/ranks/peer_sums.hpp"

namespace newel::detail {

__device__ __forceinline__ void send_packet(PeerPacket* to, unsigned half, unsigned number) {
  *static_cast<volatile PeerPacket*>(to) = static_cast<PeerPacket>(half) << 32 | number;
}

__device__ __forceinline__ PeerPacket look_at_packet(const PeerPacket* from) {
  return *static_cast<const volatile PeerPacket*>(from);
}
__device__ __forceinline__ unsigned half_of(PeerPacket packet) { return static_cast<unsigned>(packet >> 32); }
__device__ __forceinline__ unsigned number_of(PeerPacket packet) { return static_cast<unsigned>(packet); }

/// Waits for the packet with this number. Returns false if a rank has failed.
__device__ __forceinline__ bool await_packet(const PeerPacket* from, unsigned number, const unsigned* failed,
                                             unsigned& half) {
  constexpr int between_looks = 1024;
  for (int tries = 1;; ++tries) {
    const PeerPacket packet = look_at_packet(from);
    half = half_of(packet);
    if (number_of(packet) == number) return true;
    if (tries % between_looks == 0 && *static_cast<const volatile unsigned*>(failed) != 0) return false;
  }
}

/// all[r count + k] = mine[k] of rank r, or NaN if a rank has failed. Called by all threads of one block, which may
/// read `all` after it.
__device__ __forceinline__ void gather_from_peers(const PeerSums& peers, const double* mine, int count, double* all) {
  const unsigned number = *peers.gatherings + 1;
  __syncthreads();
  if (threadIdx.x == 0) *peers.gatherings = number;
  const std::int64_t buffer = number % 2 * peers.packets;
  const int values = count * peers.size;
  for (int i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(blockDim.x)) {
    PeerPacket* const to = peers.inbox[i / count] + buffer + peers.rank * peers.packets_of_rank + 2 * (i % count);
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(mine[i % count]));
    send_packet(to, static_cast<unsigned>(bits >> 32), number);
    send_packet(to + 1, static_cast<unsigned>(bits), number);
  }
  for (int i = static_cast<int>(threadIdx.x); i < values; i += static_cast<int>(blockDim.x)) {
    const PeerPacket* const from =
        peers.inbox[peers.rank] + buffer + i / count * peers.packets_of_rank + 2 * (i % count);
    unsigned high = 0, low = 0;
    const bool arrived =
        await_packet(from, number, peers.failed, high) && await_packet(from + 1, number, peers.failed, low);
    const auto bits = static_cast<long long>(static_cast<unsigned long long>(high) << 32 | low);
    all[i] = arrived ? __longlong_as_double(bits) : nan("");
  }
  __syncthreads();
}

}  // namespace newel::detail
