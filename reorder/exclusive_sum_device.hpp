// SPDX-License-Identifier: Apache-2.0
/// Counts into begins on the device, for setup that must not wait for it. Internal.
#pragma once

#include <purlin/core/array.hpp>

namespace purlin::detail {

/// counts[i] of n + 1 places becomes the sum of those before it, as exclusive_sum does on the host. Queued on the
/// context's stream; nothing is waited for. O(n).
void exclusive_sum(const Context<Space::device>& ctx, Array<Offset, Space::device>& counts);

}  // namespace purlin::detail
