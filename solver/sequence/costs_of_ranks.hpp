// SPDX-License-Identifier: Apache-2.0
/// What the ranks of a system estimate for themselves, of all of them together. Internal.
#pragma once

#include <array>

#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

/// So that ranks, each of which has rows and costs of its own, decide alike.
template <Space S, std::size_t count>
std::array<double, count> seconds_of_ranks(const Context<S>& ctx, std::array<double, count> seconds) {
  sum_over_ranks(ctx, seconds.data(), static_cast<int>(count));
  return seconds;
}

}  // namespace newel::detail
