// SPDX-License-Identifier: Apache-2.0
/// sum_run for several vectors at once. Internal.
#pragma once

#include "spmv/column_lanes_host.hpp"
#include "spmv/plan/slot_sum_host.hpp"
#include "spmv/prefetch_host.hpp"

namespace newel::detail {

/// As sum_run for each column, with its order of additions; `by_step`: as RunEnd::step.
template <int k, bool prefetch, class T>
inline void sum_run_columns(bool by_step, const T* val, const Index* col, Offset begin, Offset end, const T* x,
                            T (&sum)[k]) {
  ColumnLanes<T, k> s[run_lanes];
  const auto add = [&](int lane, Offset at) {
    if constexpr (prefetch) __builtin_prefetch(&x[Offset{col[at + prefetch_ahead / 4]} * k]);
    s[lane].add_product(val[at], x + Offset{col[at]} * k);
  };
  Offset at = begin;
  for (; at + run_lanes <= end; at += run_lanes) {
    for (int lane = 0; lane < run_lanes; ++lane) add(lane, at + lane);
  }
  if (by_step && end - begin >= run_lanes) {
    for (int lane = 1; lane < run_lanes; ++lane) {
      if (lane >= run_lanes - (end - at)) add(lane, at++);
    }
  }
  for (; at < end; ++at) add(0, at);
  s[0].add(s[1]);
  s[2].add(s[3]);
  s[0].add(s[2]);
  s[0].store(sum);
}

}  // namespace newel::detail
