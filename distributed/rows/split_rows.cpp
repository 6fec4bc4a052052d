// SPDX-License-Identifier: Apache-2.0
// Telling rows apart that need values of other ranks.
#include "distributed/rows/split_rows.hpp"

#include <limits>
#include <algorithm>
#include <string>
#include <utility>

#include <newel/core/error.hpp>

namespace newel::detail {
namespace {

using Columns = Span<const std::int64_t, Space::host>;
using RowPointers = Span<const Offset, Space::host>;

template <class Number>
void sort_unique(std::vector<Number>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

// The place of a number that is there.
template <class Number>
Index place_of(const std::vector<Number>& numbers, Number number) {
  return static_cast<Index>(std::lower_bound(numbers.begin(), numbers.end(), number) - numbers.begin());
}

// Appends a row whose columns need not ascend yet.
void append(RowPart& part, std::vector<std::pair<Index, Offset>>& row) {
  std::sort(row.begin(), row.end());
  for (const auto& [col, source] : row) {
    part.col.push_back(col);
    part.source.push_back(source);
  }
  part.row_ptr.push_back(static_cast<Offset>(part.col.size()));
  row.clear();
}

// The rows in rank order, of which the first `inner_rows` need no other rank.
template <class IsInner>
std::vector<Index> rank_order(Index rows, const Span<const Index, Space::host>* order, const IsInner& is_inner,
                              Index& inner_rows) {
  std::vector<Index> old_of_new, border;
  inner_rows = 0;
  if (order == nullptr) {
    for (Index i = 0; i < rows; ++i) (is_inner(i) ? old_of_new : border).push_back(i);
    inner_rows = static_cast<Index>(old_of_new.size());
    old_of_new.insert(old_of_new.end(), border.begin(), border.end());
    return old_of_new;
  }
  for (Index i = 0; i < rows; ++i) old_of_new.push_back(order->size == 0 ? i : (*order)[i]);
  while (inner_rows < rows && is_inner(old_of_new[static_cast<std::size_t>(inner_rows)])) ++inner_rows;
  return old_of_new;
}

}  // namespace

void check_rank_rows(RowPointers row_ptr, Columns col, std::int64_t first_row, std::int64_t all_rows) {
  if (row_ptr.size < 1 || row_ptr[0] != 0) throw InputError("the row pointers of a rank start at 0");
  const Index rows = static_cast<Index>(row_ptr.size - 1);
  const auto of_row = [&](Index i) { return "row " + std::to_string(first_row + i) + " (counted from 0): "; };
  for (Index i = 0; i < rows; ++i) {
    if (row_ptr[i + 1] < row_ptr[i] || row_ptr[i + 1] > col.size) {
      throw InputError(of_row(i) + "its row pointers are " + std::to_string(row_ptr[i]) + " and " +
                       std::to_string(row_ptr[i + 1]) + ", with " + std::to_string(col.size) + " entries in all");
    }
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col[k] < 0 || col[k] >= all_rows) {
        throw InputError(of_row(i) + "column " + std::to_string(col[k]) + " of a matrix with " +
                         std::to_string(all_rows) + " columns");
      }
      if (k > row_ptr[i] && col[k] <= col[k - 1]) {
        throw InputError(of_row(i) + "column " + std::to_string(col[k]) + " follows column " +
                         std::to_string(col[k - 1]) + ": columns must ascend");
      }
    }
  }
  if (row_ptr[rows] != col.size) {
    throw InputError("the row pointers of a rank end at " + std::to_string(row_ptr[rows]) + ", with " +
                     std::to_string(col.size) + " entries");
  }
}

RowSplit split_rows(RowPointers row_ptr, Columns col, std::int64_t first_row, std::int64_t all_rows,
                    const Span<const Index, Space::host>* order) {
  check_rank_rows(row_ptr, col, first_row, all_rows);
  const auto rows = static_cast<Index>(row_ptr.size - 1);
  const auto own = [&](std::int64_t j) { return j >= first_row && j < first_row + rows; };
  const auto is_inner = [&](Index i) { return std::all_of(col.data + row_ptr[i], col.data + row_ptr[i + 1], own); };
  RowSplit split;
  Index inner_rows = 0;
  split.old_of_new = rank_order(rows, order, is_inner, inner_rows);
  split.new_of_old.resize(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) {
    split.new_of_old[static_cast<std::size_t>(split.old_of_new[static_cast<std::size_t>(i)])] = i;
  }
  const auto new_column = [&](std::int64_t j) { return split.new_of_old[static_cast<std::size_t>(j - first_row)]; };

  for (Index of_border = inner_rows; of_border < rows; ++of_border) {
    const Index i = split.old_of_new[static_cast<std::size_t>(of_border)];
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (own(col[k])) {
        split.read.push_back(new_column(col[k]));
      } else {
        split.ghosts.push_back(col[k]);
      }
    }
  }
  sort_unique(split.read);
  sort_unique(split.ghosts);
  if (split.read.size() + split.ghosts.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max())) {
    throw InputError("the rows of a rank read more than 2^31 - 1 values of vectors");
  }

  std::vector<std::pair<Index, Offset>> row;
  for (Index i = 0; i < rows; ++i) {
    const Index old = split.old_of_new[static_cast<std::size_t>(i)];
    Offset diagonal = -1;
    for (Offset k = row_ptr[old]; k < row_ptr[old + 1]; ++k) {
      if (col[k] == first_row + old) diagonal = k;
      if (i < inner_rows) {
        row.emplace_back(new_column(col[k]), k);
      } else if (own(col[k])) {
        row.emplace_back(place_of(split.read, new_column(col[k])), k);
      } else {
        row.emplace_back(static_cast<Index>(split.read.size()) + place_of(split.ghosts, col[k]), k);
      }
    }
    append(i < inner_rows ? split.inner : split.border, row);
    split.diagonal.push_back(diagonal);
  }
  return split;
}

}  // namespace newel::detail
