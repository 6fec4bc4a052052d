// SPDX-License-Identifier: Apache-2.0
// Equal shares of the entries, rounded to whole nodes.
#include <newel/distributed/row_bounds.hpp>

#include <algorithm>

namespace newel {

std::vector<std::int64_t> row_bounds(Span<const Offset, Space::host> row_ptr, int ranks) {
  constexpr std::int64_t whole_nodes = 12;
  const std::int64_t rows = row_ptr.size - 1;
  const std::int64_t step = rows >= 4 * whole_nodes * ranks ? whole_nodes : 1;
  const Offset entries = row_ptr[rows];
  std::vector<std::int64_t> bounds;
  for (int r = 0; r < ranks; ++r) {
    const auto share = static_cast<Offset>(static_cast<double>(entries) * r / ranks);
    const auto row = std::lower_bound(row_ptr.begin(), row_ptr.end(), share) - row_ptr.begin();
    const std::int64_t rounded = (row + step / 2) / step * step;
    bounds.push_back(r == 0 ? 0 : std::clamp<std::int64_t>(rounded, bounds.back(), rows));
  }
  bounds.push_back(rows);
  return bounds;
}

}  // namespace newel
