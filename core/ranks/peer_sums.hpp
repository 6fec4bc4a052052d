// SPDX-License-Identifier: Apache-2.0
/// PeerSums: sums that devices of one host send each other by storing packets in each other's memory. Internal.
///
/// A packet is a word of 64 bits: half of a value, and the number of the gathering that it belongs to. It is valid as
/// a whole or not at all, so that no fence and no counter is needed. Two buffers are used in turn: who sends for the
/// next but one gathering has received all packets of the next, which their senders sent after they had read this
/// one.
#pragma once

#include <cstdint>

namespace newel::detail {

using PeerPacket = unsigned long long;

/// What a kernel needs for a gathering; the functions are in peer_sums_device.cuh.
struct PeerSums {
  static constexpr int most_ranks = 16;

  PeerPacket* inbox[most_ranks];  ///< of every rank: `packets` of buffer 0, then those of buffer 1
  std::int64_t packets;           ///< of a buffer: two for each value that each rank may send
  std::int64_t packets_of_rank;
  unsigned* gatherings;    ///< of this rank: how many there have been
  const unsigned* failed;  ///< of this rank: not 0 once a rank has failed and nothing more will arrive
  int rank, size;
};

}  // namespace newel::detail
