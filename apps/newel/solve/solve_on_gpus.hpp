// SPDX-License-Identifier: Apache-2.0
/// A solve whose rows several GPUs of this host share.
#pragma once

#include "backend.hpp"

namespace newel::cli {

/// As `solve_at`, on the devices of a place that has several. Memory is that of all devices together.
SolveOutcome solve_on_gpus(const Place& place, const Context<Space::host>& host, bool single_precision,
                           SolveTask& task, const SolveObserver& observer);

}  // namespace newel::cli
