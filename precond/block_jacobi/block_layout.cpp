// SPDX-License-Identifier: Apache-2.0
// The blocks of block Jacobi.
#include "precond/block_jacobi/block_layout.hpp"

#include <algorithm>

namespace newel::detail {
namespace {

// Whether row i + 1 has the columns of row i.
template <class RowPtr>
bool same_columns(const RowPtr& row_ptr, const Index* col, Index i) {
  const Index *const first = col + row_ptr[i], *const second = col + row_ptr[i + 1],
                     *const end = col + row_ptr[i + 2];
  return std::equal(first, second, second, end);
}

template <class RowPtr>
std::vector<Index> first_rows_of_blocks(Index rows, const RowPtr& row_ptr, const Index* col, int rows_of_block) {
  std::vector<Index> first = {0};
  for (Index i = 1; i < rows; ++i) {
    const Index so_far = i - first.back();
    const bool goes_on =
        rows_of_block > 0 ? so_far < rows_of_block : so_far < most_block_rows && same_columns(row_ptr, col, i - 1);
    if (!goes_on) first.push_back(i);
  }
  if (rows > 0) first.push_back(rows);
  return first;
}

}  // namespace

BlockLayout::BlockLayout(const Pattern<Space::host>& a, int rows_of_block) {
  with_row_ptr(a, [&](auto row_ptr) {
    first = first_rows_of_blocks(a.rows, row_ptr, a.col.data, rows_of_block);
    block_of.resize(static_cast<std::size_t>(a.rows));
    offset = {0};
    for (std::size_t b = 0; b + 1 < first.size(); ++b) {
      const Index begin = first[b], n = first[b + 1] - begin;
      position.resize(static_cast<std::size_t>(offset.back() + Offset{n} * n), -1);
      for (Index i = begin; i < begin + n; ++i) {
        block_of[static_cast<std::size_t>(i)] = static_cast<Index>(b);
        for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
          const Index j = a.col[k] - begin;
          if (j >= 0 && j < n) position[static_cast<std::size_t>(offset.back() + Offset{j} * n + (i - begin))] = k;
        }
      }
      offset.push_back(offset.back() + Offset{n} * n);
    }
  });
}

int BlockLayout::largest() const {
  int most = 0;
  for (std::size_t b = 0; b + 1 < first.size(); ++b) most = std::max(most, static_cast<int>(first[b + 1] - first[b]));
  return most;
}

}  // namespace newel::detail
