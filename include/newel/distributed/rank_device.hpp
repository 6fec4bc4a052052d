// SPDX-License-Identifier: Apache-2.0
/// Which GPU a rank of a host takes.
#pragma once

#include <newel/core/communicator.hpp>

namespace newel {

/// Ranks of a host, and its GPUs.
struct RankDevice {
  int rank_on_host = 0;   ///< the number of this rank among those of its host, from 0
  int ranks_on_host = 1;  ///< how many there are
  int device = -1;        ///< the GPU of this rank, by its number in this process; -1: its process sees none
  bool shares = false;    ///< the rank before this one has the same GPU
  int ranks = 1;          ///< of the communicator
  int devices = 0;        ///< different GPUs that its ranks take together
  bool all_have = false;  ///< every rank has one

  /// Whether each rank has a GPU of its own.
  bool one_for_each() const { return all_have && devices == ranks; }
};

/// The GPU of each rank: that of its number on the host, or of a number of consecutive ranks if there are more ranks
/// than GPUs. All ranks call it together. Creates no context on a device. Without CUDA, nobody has a GPU. Throws
/// RankFailed.
RankDevice device_of_rank(Communicator& communicator);

}  // namespace newel
