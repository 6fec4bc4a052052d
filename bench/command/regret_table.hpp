// SPDX-License-Identifier: Apache-2.0
/// The measurements of `newel bench regret` for people.
#pragma once

#include <string>
#include <vector>

#include "regret_result.hpp"

namespace newel::cli {

/// The line above a system's table, known before it is measured.
std::string bench_system_text(const RegretSystem& system);

/// A line for each use, what `auto` exchanged, the usual loop, and the combinations that are no candidates.
std::string bench_table_text(const RegretSystem& system);

/// Means and maxima of all systems, and what `auto` did not solve.
std::string bench_means_text(const std::vector<RegretSystem>& systems);

}  // namespace newel::cli
