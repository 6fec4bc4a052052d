// SPDX-License-Identifier: Apache-2.0
/// `newel solve A`: from a file to a solution.
#pragma once

#include <string>

#include "options.hpp"

namespace newel::cli {

/// Solves, prints, writes. Returns the exit status for a solve that ran; throws what bad input and devices throw.
int run_solve(const SolveOptions& options, const std::string& command_line);

}  // namespace newel::cli
