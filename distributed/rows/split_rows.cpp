// SPDX-License-Identifier: Apache-2.0
// Telling rows apart that need values of other ranks.
#include "distributed/rows/split_rows.hpp"

#include <limits>
#include <algorithm>
#include <string>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

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

// Row pointers of rows that have the lengths of rows old_of_new[first], old_of_new[first + 1], ..., and room for
// their entries.
RowPart part_of(RowPointers row_ptr, const std::vector<Index>& old_of_new, Index first, Index end) {
  RowPart part;
  part.row_ptr.reserve(static_cast<std::size_t>(end - first) + 1);
  for (Index i = first; i < end; ++i) {
    const Index old = old_of_new[static_cast<std::size_t>(i)];
    part.row_ptr.push_back(part.row_ptr.back() + row_ptr[old + 1] - row_ptr[old]);
  }
  part.col.resize(static_cast<std::size_t>(part.row_ptr.back()));
  part.source.resize(part.col.size());
  return part;
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

// Whether a column is a row of this rank.
struct OwnColumns {
  std::int64_t first;
  Index rows;
  bool operator()(std::int64_t j) const { return j >= first && j < first + rows; }
};

void find_what_border_reads(RowPointers row_ptr, Columns col, const OwnColumns& own, Index inner_rows,
                            RowSplit& split) {
  for (std::size_t i = static_cast<std::size_t>(inner_rows); i < split.old_of_new.size(); ++i) {
    const Index old = split.old_of_new[i];
    for (Offset k = row_ptr[old]; k < row_ptr[old + 1]; ++k) {
      if (own(col[k])) {
        split.read.push_back(split.new_of_old[static_cast<std::size_t>(col[k] - own.first)]);
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
}

// The entries of both parts, row by row with ascending columns, and the diagonal.
void fill_parts(const Context<Space::host>& ctx, RowPointers row_ptr, Columns col, const OwnColumns& own,
                Index inner_rows, RowSplit& split) {
  const auto column_of = [&](Index i, std::int64_t j) {
    if (!own(j)) return static_cast<Index>(split.read.size()) + place_of(split.ghosts, j);
    const Index here = split.new_of_old[static_cast<std::size_t>(j - own.first)];
    return i < inner_rows ? here : place_of(split.read, here);
  };
  parallel_ranges(ctx, own.rows, [&](Index begin, Index end) {
    std::vector<std::pair<Index, Offset>> row;
    for (Index i = begin; i < end; ++i) {
      const Index old = split.old_of_new[static_cast<std::size_t>(i)];
      Offset diagonal = -1;
      row.clear();
      for (Offset k = row_ptr[old]; k < row_ptr[old + 1]; ++k) {
        if (col[k] == own.first + old) diagonal = k;
        row.emplace_back(column_of(i, col[k]), k);
      }
      split.diagonal[static_cast<std::size_t>(i)] = diagonal;
      std::sort(row.begin(), row.end());
      RowPart& part = i < inner_rows ? split.inner : split.border;
      auto at = static_cast<std::size_t>(part.row_ptr[static_cast<std::size_t>(i < inner_rows ? i : i - inner_rows)]);
      for (const auto& [column, source] : row) {
        part.col[at] = column;
        part.source[at++] = source;
      }
    }
  });
}

// Throws if row i is not as check_rank_rows wants it.
void check_row(RowPointers row_ptr, Columns col, Index i, std::int64_t first_row, std::int64_t all_rows) {
  const auto of_row = [&] { return "row " + std::to_string(first_row + i) + " (counted from 0): "; };
  if (row_ptr[i + 1] < row_ptr[i] || row_ptr[i + 1] > col.size) {
    throw InputError(of_row() + "its row pointers are " + std::to_string(row_ptr[i]) + " and " +
                     std::to_string(row_ptr[i + 1]) + ", with " + std::to_string(col.size) + " entries in all");
  }
  for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
    if (col[k] < 0 || col[k] >= all_rows) {
      throw InputError(of_row() + "column " + std::to_string(col[k]) + " of a matrix with " +
                       std::to_string(all_rows) + " columns");
    }
    if (k > row_ptr[i] && col[k] <= col[k - 1]) {
      throw InputError(of_row() + "column " + std::to_string(col[k]) + " follows column " +
                       std::to_string(col[k - 1]) + ": columns must ascend");
    }
  }
}

bool is_sound(RowPointers row_ptr, Columns col, Index i, std::int64_t all_rows) {
  const Offset begin = row_ptr[i], end = row_ptr[i + 1];
  if (begin < 0 || end < begin || end > col.size) return false;
  if (begin == end) return true;
  bool ascends = true;
  for (Offset k = begin + 1; k < end; ++k) ascends &= col[k] > col[k - 1];
  return ascends && col[begin] >= 0 && col[end - 1] < all_rows;
}

}  // namespace

// In parallel first; what is wrong is then looked for row by row, so that the first is named.
void check_rank_rows(const Context<Space::host>& ctx, RowPointers row_ptr, Columns col, std::int64_t first_row,
                     std::int64_t all_rows) {
  if (row_ptr.size < 1 || row_ptr[0] != 0) throw InputError("the row pointers of a rank start at 0");
  const Index rows = static_cast<Index>(row_ptr.size - 1);
  const auto sound = [&](Index i) { return is_sound(row_ptr, col, i, all_rows); };
  if (!parallel_all(ctx, rows, sound)) {
    for (Index i = 0; i < rows; ++i) check_row(row_ptr, col, i, first_row, all_rows);
  }
  if (row_ptr[rows] != col.size) {
    throw InputError("the row pointers of a rank end at " + std::to_string(row_ptr[rows]) + ", with " +
                     std::to_string(col.size) + " entries");
  }
}

RowSplit split_rows(const Context<Space::host>& ctx, RowPointers row_ptr, Columns col, std::int64_t first_row,
                    std::int64_t all_rows, const Span<const Index, Space::host>* order) {
  check_rank_rows(ctx, row_ptr, col, first_row, all_rows);
  const auto rows = static_cast<Index>(row_ptr.size - 1);
  const OwnColumns own{first_row, rows};
  std::vector<unsigned char> inner(static_cast<std::size_t>(rows));
  parallel_for(ctx, rows, [&](Index i) {
    inner[static_cast<std::size_t>(i)] = std::all_of(col.data + row_ptr[i], col.data + row_ptr[i + 1], own) ? 1 : 0;
  });
  const auto is_inner = [&](Index i) { return inner[static_cast<std::size_t>(i)] != 0; };
  RowSplit split;
  Index inner_rows = 0;
  split.old_of_new = rank_order(rows, order, is_inner, inner_rows);
  split.new_of_old.resize(static_cast<std::size_t>(rows));
  parallel_for(ctx, rows, [&](Index i) {
    split.new_of_old[static_cast<std::size_t>(split.old_of_new[static_cast<std::size_t>(i)])] = i;
  });
  find_what_border_reads(row_ptr, col, own, inner_rows, split);
  split.inner = part_of(row_ptr, split.old_of_new, 0, inner_rows);
  split.border = part_of(row_ptr, split.old_of_new, inner_rows, rows);
  split.diagonal.resize(static_cast<std::size_t>(rows));
  fill_parts(ctx, row_ptr, col, own, inner_rows, split);
  return split;
}

}  // namespace newel::detail
