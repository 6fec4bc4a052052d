// SPDX-License-Identifier: Apache-2.0
/// The dot product of a product whose rows are in two parts. Internal; only in builds with CUDA.
#pragma once

#include "core/ranks/device_ranks.hpp"

namespace newel::detail {

/// Queues *xy = the two values in `ranks.sums()`, added over all ranks in their order.
void add_dots_over_ranks(const Context<Space::device>& ctx, DeviceRanks& ranks, double* xy);

}  // namespace newel::detail
