// SPDX-License-Identifier: Apache-2.0
/// Room for one row per thread, made before a parallel region: running out of memory inside one could not be told.
/// Internal.
#pragma once

#include <omp.h>

#include <algorithm>
#include <vector>

#include <purlin/core/csr.hpp>

namespace purlin::detail {

template <class Value>
class RowScratch {
 public:
  /// Room for the longest row of `a`, whose row pointers are sound.
  RowScratch(const Context<Space::host>& ctx, const Pattern<Space::host>& a)
      : rows_(static_cast<std::size_t>(ctx.threads())) {
    Offset longest = 0;
#pragma omp parallel for num_threads(ctx.threads()) schedule(static) reduction(max : longest)
    for (Index i = 0; i < a.rows; ++i) longest = std::max(longest, a.row_begin(i + 1) - a.row_begin(i));
    for (auto& row : rows_) row.reserve(static_cast<std::size_t>(longest));
  }

  /// The calling thread's own.
  std::vector<Value>& mine() { return rows_[static_cast<std::size_t>(omp_get_thread_num())]; }

 private:
  std::vector<std::vector<Value>> rows_;
};

}  // namespace purlin::detail
