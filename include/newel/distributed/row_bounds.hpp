// SPDX-License-Identifier: Apache-2.0
/// row_bounds: which rows of a matrix each rank gets.
#pragma once

#include <cstdint>
#include <vector>

#include <newel/core/span.hpp>
#include <newel/core/types.hpp>

namespace newel {

/// The first row of each rank, and the number of all rows at the end, for a matrix in CSR: each rank gets about as
/// many entries, in whole nodes of up to four or of six rows if there are enough rows. A rank may get no rows.
std::vector<std::int64_t> row_bounds(Span<const Offset, Space::host> row_ptr, int ranks);

}  // namespace newel
