// SPDX-License-Identifier: Apache-2.0
// Columns without entries on the host.
#include "core/csr/empty_columns.hpp"

namespace newel::detail {

std::vector<Index> empty_columns(const Context<Space::host>&, const Pattern<Space::host>& a) {
  std::vector<char> marks(static_cast<std::size_t>(a.cols));
  for (const Index j : a.col) marks[static_cast<std::size_t>(j)] = 1;
  return positions_of_zeros(marks);
}

}  // namespace newel::detail
