// SPDX-License-Identifier: Apache-2.0
/// A run of newel-heart in one space: set up, step, write, report.
#pragma once

#include "apps/heart/heart_job.hpp"

namespace newel::heart {

/// Runs and returns the exit status; throws what bad input and devices throw.
template <Space S>
int run_heart(const Context<Space::host>& host, const Context<S>& ctx, HeartJob& job);

}  // namespace newel::heart
