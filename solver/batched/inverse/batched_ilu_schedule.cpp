// SPDX-License-Identifier: Apache-2.0
// The levels of ILU(0) and of its triangular solves.
#include "solver/batched/inverse/batched_ilu_schedule.hpp"

#include <algorithm>

namespace newel::detail {
namespace {

std::uint16_t narrow(std::int64_t value) { return static_cast<std::uint16_t>(value); }

/// The numbers 0, 1, ... by level, in ascending order within a level; those of level 0 are left out. `begins` gets
/// where each level begins.
std::vector<Index> by_level(const std::vector<int>& level, std::vector<int>& begins) {
  const int most = level.empty() ? 0 : *std::max_element(level.begin(), level.end());
  begins.assign(static_cast<std::size_t>(most) + 1, 0);
  for (const int of : level) {
    if (of > 0) ++begins[static_cast<std::size_t>(of)];
  }
  for (std::size_t l = 1; l < begins.size(); ++l) begins[l] += begins[l - 1];
  std::vector<Index> order(static_cast<std::size_t>(begins.back()));
  std::vector<int> next = begins;
  for (std::size_t k = 0; k < level.size(); ++k) {
    if (level[k] > 0)
      order[static_cast<std::size_t>(next[static_cast<std::size_t>(level[k]) - 1]++)] = static_cast<Index>(k);
  }
  return order;
}

/// What ILU(0) does with each entry.
struct EntryLevels {
  std::vector<int> level;  ///< 0: nothing
  std::vector<std::uint16_t> pivot;
  std::vector<std::vector<FactorPair>> pairs;

  EntryLevels(const Pattern<Space::host>& pattern, const std::vector<std::uint16_t>& diagonal)
      : level(static_cast<std::size_t>(pattern.nnz()), 0), pivot(level.size(), no_position), pairs(level.size()) {
    for (Index row = 0; row < pattern.rows; ++row) {
      const Offset end = pattern.row_begin(row + 1);
      for (Offset e = pattern.row_begin(row); e < end; ++e) {
        const Index col = pattern.col[e];
        if (col <= row) pivot[at(e)] = diagonal[at(col)];
        set_level(e);
        if (col < row) add_pairs(pattern, e, end);
      }
    }
  }

 private:
  // After all pairs of entry e.
  void set_level(Offset e) {
    const std::uint16_t of_e = pivot[at(e)];
    int last = of_e == no_position || of_e == e ? 0 : level[of_e];
    for (const FactorPair& pair : pairs[at(e)]) last = std::max({last, level[pair.left], level[pair.upper]});
    if (!pairs[at(e)].empty() || of_e != no_position) level[at(e)] = last + 1;
  }

  // The products of entry e of L and U's row of its column, in the entries between e and `end`.
  void add_pairs(const Pattern<Space::host>& pattern, Offset e, Offset end) {
    const Index* const col = pattern.col.data;
    const Offset last = pattern.row_begin(col[e] + 1);
    Offset from = std::upper_bound(col + pattern.row_begin(col[e]), col + last, col[e]) - col;
    for (Offset to = e + 1; to < end && from < last;) {
      if (col[to] == col[from]) pairs[at(to)].push_back({narrow(e), narrow(from)});
      col[to] < col[from] ? ++to : ++from;
    }
  }

  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }
};

/// Levels of rows whose entries from `first(row)` on, `count(row)` of them, are subtracted. Rows with neither entries
/// nor a pivot to divide by have level 0.
template <class Rows, class First, class Count>
std::vector<int> row_levels(const Pattern<Space::host>& pattern, const std::vector<std::uint16_t>& pivot,
                            Rows&& row_of, First&& first, Count&& count) {
  std::vector<int> level(static_cast<std::size_t>(pattern.rows), 0);
  for (Index k = 0; k < pattern.rows; ++k) {
    const Index row = row_of(k);
    int last = 0;
    for (Offset e = first(row); e < first(row) + count(row); ++e)
      last = std::max(last, level[static_cast<std::size_t>(pattern.col[e])]);
    const bool divides = !pivot.empty() && pivot[static_cast<std::size_t>(row)] != no_position;
    if (count(row) > 0 || divides) level[static_cast<std::size_t>(row)] = last + 1;
  }
  return level;
}

}  // namespace

IluSchedule::IluSchedule(const Pattern<Space::host>& pattern) {
  const Index rows = pattern.rows;
  for (Offset e = 0; e < pattern.nnz(); ++e) column.push_back(narrow(pattern.col[e]));
  std::vector<std::uint16_t> diagonal(static_cast<std::size_t>(rows), no_position);
  std::vector<Offset> after(diagonal.size());  // the first entry above the diagonal
  for (Index row = 0; row < rows; ++row) {
    const auto k = static_cast<std::size_t>(row);
    Offset e = pattern.row_begin(row);
    while (e < pattern.row_begin(row + 1) && pattern.col[e] < row) ++e;
    const bool has_diagonal = e < pattern.row_begin(row + 1) && pattern.col[e] == row;
    if (has_diagonal) diagonal[k] = narrow(e);
    after[k] = has_diagonal ? e + 1 : e;
  }
  const EntryLevels entries(pattern, diagonal);
  for (const Index e : by_level(entries.level, step_level)) {
    const auto k = static_cast<std::size_t>(e);
    step.push_back({narrow(e), entries.pivot[k], static_cast<int>(pair.size())});
    pair.insert(pair.end(), entries.pairs[k].begin(), entries.pairs[k].end());
  }
  step.push_back({no_position, no_position, static_cast<int>(pair.size())});

  const auto begin = [&](Index row) { return pattern.row_begin(row); };
  const auto below = [&](Index row) {
    const auto k = static_cast<std::size_t>(row);
    return after[k] - begin(row) - (diagonal[k] == no_position ? 0 : 1);
  };
  const auto above_first = [&](Index row) { return after[static_cast<std::size_t>(row)]; };
  const auto above = [&](Index row) { return pattern.row_begin(row + 1) - above_first(row); };
  const std::vector<int> of_lower = row_levels(
      pattern, {}, [](Index k) { return k; }, begin, below);
  const std::vector<int> of_upper = row_levels(
      pattern, diagonal, [rows](Index k) { return rows - 1 - k; }, above_first, above);
  for (const Index row : by_level(of_lower, lower_level))
    lower.push_back({narrow(row), narrow(begin(row)), narrow(below(row)), no_position});
  for (const Index row : by_level(of_upper, upper_level))
    upper.push_back(
        {narrow(row), narrow(above_first(row)), narrow(above(row)), diagonal[static_cast<std::size_t>(row)]});
}

int IluSchedule::lanes_of_row(int threads) const {
  const auto levels = static_cast<std::int64_t>(lower_level.size() + upper_level.size()) - 2;
  const auto rows = static_cast<std::int64_t>(lower.size() + upper.size());
  const auto entries = static_cast<std::int64_t>(column.size());
  int lanes = 1;
  while (lanes < 32 && 2 * lanes * rows <= entries && 2 * lanes * rows <= threads * levels) lanes *= 2;
  return lanes;
}

}  // namespace newel::detail
