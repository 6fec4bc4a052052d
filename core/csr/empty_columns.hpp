// SPDX-License-Identifier: Apache-2.0
/// Columns of a pattern without entries: unknowns that no residual depends on. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// The columns in which no entry is stored, ascending. Reads the columns of all entries once. On the device waits for
/// the stream.
std::vector<Index> empty_columns(const Context<Space::host>& ctx, const Pattern<Space::host>& a);
std::vector<Index> empty_columns(const Context<Space::device>& ctx, const Pattern<Space::device>& a);

/// The positions of zeros.
inline std::vector<Index> positions_of_zeros(const std::vector<char>& marks) {
  std::vector<Index> found;
  for (std::size_t j = 0; j < marks.size(); ++j) {
    if (marks[j] == 0) found.push_back(static_cast<Index>(j));
  }
  return found;
}

}  // namespace newel::detail
