// SPDX-License-Identifier: Apache-2.0
/// `newel solve A`: from a file to a solution.
#pragma once

#include <string>

#include "apps/newel/ranks/launch.hpp"
#include "options.hpp"

namespace newel::cli {

struct MpiProcess;

/// Solves, prints, writes. Returns the exit status for a solve that ran; throws what bad input and devices throw.
/// With `process` this is the first of several, and the others call `help_on_ranks`.
int run_solve(const SolveOptions& options, const std::string& command_line, const MpiProcess* process = nullptr);

/// The same on the processes that were launched together, each of which calls it. The first reads, prints and writes.
/// Returns the same status on all. If a process fails, the first prints which and why, and all are ended.
int run_solve_launched(const Launch& launch, const SolveOptions& options, const std::string& command_line);

}  // namespace newel::cli
