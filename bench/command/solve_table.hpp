// SPDX-License-Identifier: Apache-2.0
/// The measurements of `newel bench solve` for people.
#pragma once

#include <string>

#include "solve_result.hpp"

namespace newel::cli {

/// The line above a system's table, known before it is measured.
std::string bench_system_text(const BenchSolveSystem& system);

/// A line for each contender. One that refused has its reason instead, and what is wrong says WRONG.
std::string bench_table_text(const BenchSolveSystem& system, const bench::CopyBandwidth& copy);

}  // namespace newel::cli
