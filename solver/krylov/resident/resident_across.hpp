// SPDX-License-Identifier: Apache-2.0
/// ResidentAcross: what a kernel on one device knows of the same kernel on others, which solve a system together.
/// Internal.
#pragma once

#include <cstdint>

#include <newel/core/types.hpp>

namespace newel::detail {

/// Rows and blocks are numbered through all devices, in the order of ranks.
struct ResidentAcross {
  static constexpr int most_devices = 8;  ///< a bit of a byte for each

  std::uint64_t* posted[most_devices];  ///< packets, in the memory of each
  const unsigned* failed;               ///< of this device: not 0 once a rank has failed
  Offset first_row;                     ///< of this device
  Offset rows;                          ///< of all devices
  int first_part;                       ///< of this device: a block for each part
  int parts;                            ///< of all devices
  int devices;
};

}  // namespace newel::detail
