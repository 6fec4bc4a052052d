// SPDX-License-Identifier: Apache-2.0
/// The command line of purlin-heart.
#pragma once

namespace purlin::heart {

/// Parses, runs, and returns the exit status; throws what `cli::report_exception` explains.
int run_command(int argc, const char* const* argv);

}  // namespace purlin::heart
