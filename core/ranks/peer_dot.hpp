// SPDX-License-Identifier: Apache-2.0
/// PeerDot: the dot product that several launches on each of several devices form together. Internal.
#pragma once

#include "core/ranks/peer_sums.hpp"

namespace newel::detail {

/// In the memory of a device, for its launches. The last of their blocks gathers the sums of the other devices, unless
/// `peers.size` is 1.
struct PeerDot {
  PeerSums peers;
  double* of_block;   ///< the sum of each block of all launches
  int blocks;         ///< of all launches
  unsigned* tickets;  ///< 0 between products
};

}  // namespace newel::detail
