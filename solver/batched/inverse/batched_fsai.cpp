// SPDX-License-Identifier: Apache-2.0
// The pattern of FSAI in a batch.
#include "solver/batched/inverse/batched_fsai.hpp"

#include <algorithm>

namespace newel::detail {
namespace {

int position(const Pattern<Space::host>& matrix, Index row, Index col) {
  const Index* const begin = matrix.col.data + matrix.row_begin(row);
  const Index* const end = matrix.col.data + matrix.row_begin(row + 1);
  const Index* const found = std::lower_bound(begin, end, col);
  return found != end && *found == col ? static_cast<int>(found - matrix.col.data) : -1;
}

}  // namespace

BatchedFsaiPattern::BatchedFsaiPattern(const Pattern<Space::host>& matrix) : first{0}, local_first{0} {
  const auto count = static_cast<std::size_t>(matrix.rows);
  transposed_first.assign(count + 1, 0);
  for (Index row = 0; row < matrix.rows; ++row) {
    const Index* const begin = matrix.col.data + matrix.row_begin(row);
    const Index* const diagonal = std::lower_bound(begin, matrix.col.data + matrix.row_begin(row + 1), row);
    const auto below = std::min<std::ptrdiff_t>(diagonal - begin, most_fsai_row - 1);
    column.insert(column.end(), diagonal - below, diagonal);
    column.push_back(row);
    first.push_back(static_cast<int>(column.size()));
    longest = std::max(longest, static_cast<int>(below) + 1);
    const Index* const of_row = column.data() + column.size() - static_cast<std::size_t>(below) - 1;
    for (std::ptrdiff_t r = 0; r <= below; ++r) {
      ++transposed_first[static_cast<std::size_t>(of_row[r]) + 1];
      for (std::ptrdiff_t c = 0; c <= r; ++c) local.push_back(position(matrix, of_row[r], of_row[c]));
    }
    local_first.push_back(static_cast<int>(local.size()));
  }
  for (std::size_t j = 0; j < count; ++j) transposed_first[j + 1] += transposed_first[j];
  transposed.resize(column.size());
  std::vector<int> next(transposed_first.begin(), transposed_first.end() - 1);
  for (Index row = 0; row < matrix.rows; ++row) {
    for (int e = first[static_cast<std::size_t>(row)]; e < first[static_cast<std::size_t>(row) + 1]; ++e) {
      const auto col = static_cast<std::size_t>(column[static_cast<std::size_t>(e)]);
      transposed[static_cast<std::size_t>(next[col]++)] = {e, row};
    }
  }
}

}  // namespace newel::detail
