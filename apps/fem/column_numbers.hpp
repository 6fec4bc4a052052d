// SPDX-License-Identifier: Apache-2.0
/// Numbers for the nodes that are met around a node. Included by what gathers from the tetrahedra around each node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::fem::detail {

/// Numbers the columns of a row from 0 in the order in which they are met: an open hash table, at most half full. (A
/// linear search mispredicts a branch for each column, which takes half of an assembly.)
class ColumnNumbers {
 public:
  void restart(Index first) {
    columns_.clear();
    std::fill(slots_.begin(), slots_.end(), empty);
    (void)number(first);
  }
  std::size_t number(Index column) {
    std::size_t at = place(column);
    if (slots_[at] != empty) return static_cast<std::size_t>(slots_[at]);
    if (2 * (columns_.size() + 1) > slots_.size()) at = grow(column);
    slots_[at] = static_cast<Index>(columns_.size());
    columns_.push_back(column);
    return columns_.size() - 1;
  }
  const std::vector<Index>& columns() const { return columns_; }

 private:
  static constexpr Index empty = -1;

  // Where the column is, or where it belongs.
  std::size_t place(Index column) const {
    std::size_t at = (static_cast<std::uint32_t>(column) * 0x9e3779b1u) >> shift_;
    while (slots_[at] != empty && columns_[static_cast<std::size_t>(slots_[at])] != column) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  std::size_t grow(Index column) {
    slots_.assign(2 * slots_.size(), empty);
    --shift_;
    for (std::size_t k = 0; k < columns_.size(); ++k) slots_[place(columns_[k])] = static_cast<Index>(k);
    return place(column);
  }

  std::vector<Index> columns_;
  int shift_ = 26;
  std::vector<Index> slots_ = std::vector<Index>(64, empty);
};

}  // namespace newel::fem::detail
