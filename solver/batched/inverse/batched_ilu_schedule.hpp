// SPDX-License-Identifier: Apache-2.0
/// IluSchedule: which entries of incomplete factors, and which rows of triangular solves, a block of a device
/// computes side by side. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include <newel/core/csr.hpp>

namespace newel::detail {

/// Instead of a position.
inline constexpr std::uint16_t no_position = 0xffff;

/// Subtracts the products of pairs from an entry, and then multiplies it by the inverse of a pivot, or inverts it if
/// it is the pivot itself. The next step has the end of its pairs.
struct FactorStep {
  std::uint16_t entry, pivot;
  int first_pair;
};
/// Entries (i, k) and (k, j), which become a product in (i, j).
struct FactorPair {
  std::uint16_t left, upper;
};
/// Entries `first` and the next ones up to `count` are subtracted, then the row is divided by its pivot.
struct SolveRow {
  std::uint16_t row, first, count, pivot;
};

/// Steps and rows by levels: those of a level depend on those of the levels before. An array of levels has where each
/// of them begins, and the end. Entries are numbered as in the pattern.
struct IluSchedule {
  std::vector<int> step_level = {0}, lower_level = {0}, upper_level = {0};
  std::vector<FactorStep> step;  ///< and one more, which only ends the pairs
  std::vector<FactorPair> pair;  ///< of an entry, in the order in which ILU(0) subtracts them
  std::vector<SolveRow> lower, upper;
  std::vector<std::uint16_t> column;

  /// For a pattern of fewer than 65,535 rows and entries, with ascending columns.
  explicit IluSchedule(const Pattern<Space::host>& pattern);

  /// Lanes that share a row of a solve, a power of two: so many that a level occupies the threads of a block, if rows
  /// are long enough.
  int lanes_of_row(int threads) const;
};

}  // namespace newel::detail
