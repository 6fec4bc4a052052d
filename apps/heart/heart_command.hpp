// SPDX-License-Identifier: Apache-2.0
/// The command line of newel-heart.
#pragma once

namespace newel::heart {

/// Parses, runs, and returns the exit status; throws what `cli::report_exception` explains.
int run_command(int argc, const char* const* argv);

}  // namespace newel::heart
