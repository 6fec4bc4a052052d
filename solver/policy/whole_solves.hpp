// SPDX-License-Identifier: Apache-2.0
/// Whether a stronger preconditioner has proved slower than the one before it, over whole solves. Internal.
#pragma once

#include "solver/policy/forecasts.hpp"
#include "solver/policy/history.hpp"

namespace newel::detail {

/// After a solve with one preconditioner, of so many iterations; negative: it did not converge. See WholeSolves.
void compare_with_weaker(int iterations, History& history, const Forecasts& forecasts);

/// Whether the preconditioner that was taken has proved slower than the one before.
bool proved_slower(const History& history);

}  // namespace newel::detail
