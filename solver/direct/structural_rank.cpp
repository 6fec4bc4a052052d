// SPDX-License-Identifier: Apache-2.0
// A matching of columns and rows.
#include "solver/direct/structural_rank.hpp"

namespace newel::detail {
namespace {

class Matching {
 public:
  Matching(const ColumnPattern& pattern, const std::vector<double>& values)
      : pattern_(pattern),
        values_(values),
        column_of_row_(static_cast<std::size_t>(pattern.size), -1),
        next_free_(pattern.begin.begin(), pattern.begin.end() - 1),
        next_(static_cast<std::size_t>(pattern.size)),
        reached_for_(static_cast<std::size_t>(pattern.size), -1) {}

  // Whether `column` can be paired too, if others change their rows. Depth first, without recursion.
  bool add(Index column) {
    path_.assign(1, column);
    next_[static_cast<std::size_t>(column)] = pattern_.begin[static_cast<std::size_t>(column)];
    while (!path_.empty()) {
      const Index j = path_.back();
      if (const Index row = free_row(j); row >= 0) {
        give_rows_along_the_path(row);
        return true;
      }
      if (!go_deeper(j, column)) path_.pop_back();
    }
    return false;
  }

 private:
  Index row(Index entry) const { return pattern_.row[static_cast<std::size_t>(entry)]; }
  Index end(Index column) const { return pattern_.begin[static_cast<std::size_t>(column) + 1]; }
  bool is_zero(Index entry) const { return values_[static_cast<std::size_t>(entry)] == 0; }

  // A row of the column that no column has yet; -1: none. Rows are never given back, so each entry is read once.
  Index free_row(Index column) {
    for (Index& entry = next_free_[static_cast<std::size_t>(column)]; entry < end(column);) {
      const Index i = row(entry), found = entry++;
      if (!is_zero(found) && column_of_row_[static_cast<std::size_t>(i)] < 0) return i;
    }
    return -1;
  }

  // To the column of the next row that this search has not reached.
  bool go_deeper(Index column, Index search) {
    for (Index& entry = next_[static_cast<std::size_t>(column)]; entry < end(column);) {
      const auto i = static_cast<std::size_t>(row(entry));
      const Index found = entry++;
      if (is_zero(found) || reached_for_[i] == search) continue;
      reached_for_[i] = search;
      const Index other = column_of_row_[i];
      next_[static_cast<std::size_t>(other)] = pattern_.begin[static_cast<std::size_t>(other)];
      path_.push_back(other);
      return true;
    }
    return false;
  }

  // The last column takes the free row, and every other one the row that the next one had.
  void give_rows_along_the_path(Index free) {
    for (std::size_t k = path_.size(); k-- > 0;) {
      const Index column = path_[k];
      column_of_row_[static_cast<std::size_t>(free)] = column;
      if (k > 0) free = row(next_[static_cast<std::size_t>(path_[k - 1])] - 1);
    }
  }

  const ColumnPattern& pattern_;
  const std::vector<double>& values_;
  std::vector<Index> column_of_row_, next_free_, next_, reached_for_;
  std::vector<Index> path_;  // of columns, each wanting the row that the next one has
};

}  // namespace

Index structural_rank(const ColumnPattern& pattern, const std::vector<double>& values) {
  Matching matching(pattern, values);
  Index rank = 0;
  for (Index j = 0; j < pattern.size; ++j) rank += matching.add(j) ? 1 : 0;
  return rank;
}

}  // namespace newel::detail
