// SPDX-License-Identifier: Apache-2.0
/// Room for one row per thread. Internal.
#pragma once

#include <vector>

#include <newel/core/csr.hpp>
#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"

namespace newel::detail {

template <class Value>
class RowScratch {
 public:
  /// Room for the longest row of `a`, whose row pointers are sound.
  RowScratch(const Context<Space::host>& ctx, const Pattern<Space::host>& a)
      : longest_(static_cast<std::size_t>(
            parallel_max(ctx, a.rows, Offset{0}, [&](Index i) { return a.row_begin(i + 1) - a.row_begin(i); }))),
        rows_(ctx) {}

  /// Of one thread of a loop, by its number.
  std::vector<Value>& of(int member) {
    std::vector<Value>& row = rows_.of(member);
    row.reserve(longest_);
    return row;
  }

 private:
  std::size_t longest_;
  PerThread<std::vector<Value>> rows_;
};

}  // namespace newel::detail
