// SPDX-License-Identifier: Apache-2.0
/// Counts into begins. Internal.
#pragma once

#include <purlin/core/array.hpp>

namespace purlin::detail {

/// counts[i] of n + 1 places becomes the sum of those before it. O(n). On the host in parallel; on the device queued
/// on the context's stream, and nothing is waited for.
void exclusive_sum(const Context<Space::host>& ctx, Array<Offset, Space::host>& counts);
void exclusive_sum(const Context<Space::device>& ctx, Array<Offset, Space::device>& counts);

}  // namespace purlin::detail
