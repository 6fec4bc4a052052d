// SPDX-License-Identifier: Apache-2.0
/// What a column of a problem is worth where it has too many of them. Internal.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include <newel/core/parallel.hpp>
#include "precond/longest_rows.hpp"
#include "precond/spai/local_problem.hpp"

namespace newel::detail {

/// By how much column k alone would reduce the residual e_j of problem j: the first step of Grote and Huckle. Refers
/// to the arrays of `b`, which has n rows.
template <class T>
EntryWorth spai_entry_worth(const Context<Space::host>& ctx, const SpaiRows<T>& b, Index n) {
  const auto norms = std::make_shared<std::vector<double>>(static_cast<std::size_t>(n));
  parallel_for(ctx, n, [&](Index k) { (*norms)[static_cast<std::size_t>(k)] = b.norm(k); });
  return [b, norms](Index j, Index k) {
    return std::fabs(static_cast<double>(b.entry(k, j))) / (*norms)[static_cast<std::size_t>(k)];
  };
}

}  // namespace newel::detail
