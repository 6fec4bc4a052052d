// SPDX-License-Identifier: Apache-2.0
/// The structural rank of a sparse matrix. Internal.
#pragma once

#include <vector>

#include "solver/direct/factors.hpp"

namespace newel::detail {

/// The most columns that can be paired with different rows in which they have an entry whose value is not 0: an upper
/// bound of the rank, whatever the values. A matching by augmenting paths (Duff 1981): at most columns times entries
/// steps, usually a few passes over the entries.
Index structural_rank(const ColumnPattern& pattern, const std::vector<double>& values);

}  // namespace newel::detail
