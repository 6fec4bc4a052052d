// SPDX-License-Identifier: Apache-2.0
/// The fitted constants that the model of an iteration reads. Internal.
#pragma once

#include "core/memory/machine_constants.hpp"

namespace newel::detail {

/// How much faster than memory a cache that all processors share serves bytes that come again: so much up to a share
/// of its size, and not at all from another on, where every byte has been displaced when it is wanted again.
struct SharedCache {
  double speed = 0, all_to = 0, none_from = 0;
};

struct HostIterationConstants {
  double sweep_share = 0;   ///< of the copy bandwidth, by sweeps over vectors
  SharedCache last_level;   ///< of the caches
  double kept_vectors = 0;  ///< that an iteration comes back to
};

/// Of a kernel that keeps its vectors on the chip, one part a multiprocessor.
struct ResidentConstants {
  double synchronisation_seconds = 0;                  ///< of the whole grid
  double product_start_seconds = 0;                    ///< of a product, what precedes its reads
  double on_chip_speed = 0, blocks_on_chip_speed = 0;  ///< of a matrix that stays there, over that of memory
  SharedCache second_level;                            ///< for a matrix that streams past such vectors
  /// Of such a kernel by rows, whose operand comes through the second-level cache: as above, where they stay on the
  /// chip and where they stream by.
  double row_product_start_seconds = 0, rows_on_chip_speed = 0, rows_streaming_speed = 0;
  double uneven_halo = 0;     ///< the largest halo over the mean of all
  double reserved_bytes = 0;  ///< of shared memory, that are not for vectors
};

struct DeviceIterationConstants {
  /// From the start of a kernel of a captured graph to the start of the next, sums included.
  double kernel_seconds = 0;
  double sweep_share = 0;  ///< as on a host
  ResidentConstants resident;
};

}  // namespace newel::detail
