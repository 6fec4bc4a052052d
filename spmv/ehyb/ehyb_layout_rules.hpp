// SPDX-License-Identifier: Apache-2.0
/// What decides over EHYB's layout, on the host and on the device alike. Internal.
#pragma once

#include "core/vectors/host_device.hpp"
#include "spmv/ehyb/ehyb_layout.hpp"

namespace newel::detail {

/// A row that makes its slice this wide and at least twice as large as the slice's entries leaves it.
inline constexpr Index least_sticking_out = 64;
NEWEL_HD bool sticks_out(Index width, Index rows, Offset entries) {
  return width >= least_sticking_out && Offset{width} * rows > 2 * entries;
}

/// Throws InputError where the nodes begin .. end - 1, a part's own, do not fit into the cache.
void check_part(const EhybShape& shape, Index begin, Index end);

}  // namespace newel::detail
