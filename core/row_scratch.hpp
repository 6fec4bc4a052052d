// SPDX-License-Identifier: Apache-2.0
/// Room for one row per thread, made before a parallel region: running out of memory inside one cannot be reported.
/// Internal.
#pragma once

#include <vector>

#include <purlin/core/csr.hpp>
#include <purlin/core/parallel.hpp>

namespace purlin::detail {

template <class Value>
class RowScratch {
 public:
  /// Room for the longest row of `a`, whose row pointers are sound.
  RowScratch(const Context<Space::host>& ctx, const Pattern<Space::host>& a)
      : rows_(static_cast<std::size_t>(ctx.threads())) {
    const Offset longest =
        parallel_max(ctx, a.rows, Offset{0}, [&](Index i) { return a.row_begin(i + 1) - a.row_begin(i); });
    for (auto& row : rows_) row.reserve(static_cast<std::size_t>(longest));
  }

  /// Of one thread of a loop, by its number.
  std::vector<Value>& of(int member) { return rows_[static_cast<std::size_t>(member)]; }

 private:
  std::vector<std::vector<Value>> rows_;
};

}  // namespace purlin::detail
