// SPDX-License-Identifier: Apache-2.0
/// What the rows of GMRES and flexible GMRES share: the option of their cycles' length. Internal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <newel/solver/gmres.hpp>
#include "core/vectors/over_ranks.hpp"

namespace newel::detail {

MethodOption restart_option();

/// `gmres_cycle_length` for the unknowns of the whole system, of which this context has n.
template <Space S>
int gmres_cycle_length_on(const Context<S>& ctx, const SolverOptions& options, Index n, std::size_t value_bytes) {
  const std::int64_t all = std::min<std::int64_t>(all_rows(ctx, n), std::numeric_limits<Index>::max());
  return gmres_cycle_length(options, static_cast<Index>(all), value_bytes);
}

}  // namespace newel::detail
