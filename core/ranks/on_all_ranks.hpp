// SPDX-License-Identifier: Apache-2.0
/// What ranks agree on before they go different ways. Internal.
#pragma once

#include <newel/core/communicator.hpp>

namespace newel::detail {

/// Whether `holds` is true on all ranks, the same on each. All ranks call it together. Throws RankFailed.
inline bool on_all_ranks(Communicator& communicator, bool holds) {
  double fails = holds ? 0 : 1;
  communicator.max(&fails, 1);
  return fails == 0;
}

}  // namespace newel::detail
