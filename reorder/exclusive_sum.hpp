// SPDX-License-Identifier: Apache-2.0
/// Counts into begins. Internal.
#pragma once

#include <newel/core/array.hpp>

namespace newel::detail {

/// counts[i] of n + 1 places becomes the sum of those before it. O(n). On the host in parallel; on the device queued
/// on the context's stream, and nothing is waited for; `at_once` places are scanned by a call of CUB, at least 2, and
/// below 2^31, since CUB before CUDA 12.8 counts them by an int.
void exclusive_sum(const Context<Space::host>& ctx, Array<Offset, Space::host>& counts);
void exclusive_sum(const Context<Space::device>& ctx, Array<Offset, Space::device>& counts,
                   std::int64_t at_once = std::int64_t{1} << 30);

}  // namespace newel::detail
