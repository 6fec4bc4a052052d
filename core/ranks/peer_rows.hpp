// SPDX-License-Identifier: Apache-2.0
/// PeerRows: rows of a vector that the kernel which makes them stores in the memory of the devices that read them.
/// Internal.
///
/// Values are stored as they are, by a kernel. The next kernel tells the readers: it stores how often they have been, in
/// the memory of each. No kernel packs, sends or receives, and none waits for its stores. Memory for one vector is
/// enough, because readers form a sum over all devices before anybody makes the next one: who knows that sum knows that
/// all have read.
#pragma once

#include <cstdint>

#include <newel/core/types.hpp>

namespace newel::detail {

/// What the kernel that makes a vector needs; the functions are in peer_rows_device.cuh.
template <class T>
struct PeerRows {
  std::int64_t first;           ///< rows before this one are sent nowhere
  const Index* place;           ///< of rows first, first + 1, ...: of their first target; -1: they are not sent
  const std::uint64_t* target;  ///< addresses on other devices; if the lowest bit is set, the row has another one
  std::uint64_t* rounds;        ///< of this device: how often it has sent
};

/// What the next kernel needs. It tells the readers that rows are there, and reads those of other devices.
struct PeerArrivals {
  int readers;                       ///< devices that get rows of this one
  std::uint64_t* const* tell;        ///< of each: the counter in its memory
  int senders;                       ///< devices that send rows
  const std::uint64_t* const* told;  ///< of each: its counter in this device's memory
  const std::uint64_t* rounds;       ///< of this device: devices send equally often
  const unsigned* failed;            ///< not 0 once a rank has failed and nothing more will arrive
};

}  // namespace newel::detail
