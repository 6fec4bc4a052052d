// SPDX-License-Identifier: Apache-2.0
/// A dot product that kernels of ranks have formed. Internal; only in builds with CUDA.
#pragma once

#include <newel/core/context.hpp>
#include "core/ranks/device_ranks.hpp"

namespace newel::detail {

/// Queues *xy = the first value in `ranks.sums()`, added over all ranks in their order, if there are no packets
/// between the devices: with them the last block of a product gathers (core/ranks/peer_dot.hpp).
void add_dot_over_ranks(const Context<Space::device>& ctx, DeviceRanks& ranks, double* xy);

}  // namespace newel::detail
