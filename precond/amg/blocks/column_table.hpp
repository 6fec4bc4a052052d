// SPDX-License-Identifier: Apache-2.0
/// ColumnTable: the distinct columns of a row that is a sum of others. Internal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <newel/core/types.hpp>

namespace newel::detail {

/// The distinct columns of one row in the order in which they come, each with a place, found in an entry for every
/// column that there is: the row that had the column last, above its place there.
class ColumnTable {
 public:
  explicit ColumnTable(Index columns) : entry_(static_cast<std::size_t>(columns), 0) {}

  /// A row that is under way, in registers. Whether a column is new is as good as random, so nothing branches on it.
  struct Row {
    std::uint64_t* entry;
    Index* columns;
    std::uint64_t row;
    std::uint64_t count;

    std::uint64_t add(Index column) {
      std::uint64_t& found = entry[column];
      const std::uint64_t is_new = (found >> 32) != row ? 1 : 0, mask = is_new - 1;
      const std::uint64_t place = (found & 0xffffffffu & mask) | (count & ~mask);
      columns[count] = column;  // and again by the next one where it was known
      count += is_new;
      found = row << 32 | place;
      return place;
    }
  };

  /// The next row, to which `most` columns are added at most.
  Row begin(Offset most) {
    if (static_cast<Offset>(columns_.size()) < most + spare) columns_.resize(static_cast<std::size_t>(most) + spare);
    return {entry_.data(), columns_.data(), ++row_, 0};
  }
  /// The place of a column that is there.
  Index find(Index column) const {
    return static_cast<Index>(entry_[static_cast<std::size_t>(column)] & 0xffffffffu);
  }

  /// f(rank, column, place) for the columns of the row, in any order.
  template <class F>
  void ranked(const Row& row, F&& f) {
    constexpr Index few = 64;
    const auto count = static_cast<Index>(row.count);
    if (count <= few) {  // each is compared with each, without a branch
      Index rank[few + spare];
      const Index padded = (count + spare - 1) / spare * spare;
      std::fill_n(rank, padded, 0);
      const Index* const all = columns_.data();
      for (Index k = 0; k < count; ++k) {
        const Index column = all[k];
        for (Index j = 0; j < padded; ++j) rank[j] += all[j] > column ? 1 : 0;
      }
      for (Index k = 0; k < count; ++k) f(rank[k], all[k], k);
    } else {
      std::sort(columns_.begin(), columns_.begin() + count);
      for (Index k = 0; k < count; ++k) {
        const Index column = columns_[static_cast<std::size_t>(k)];
        f(k, column, find(column));
      }
    }
  }

 private:
  static constexpr Index spare = 8;
  std::vector<std::uint64_t> entry_;
  std::vector<Index> columns_;
  std::uint64_t row_ = 0;
};

}  // namespace newel::detail
