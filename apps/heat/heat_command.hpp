// SPDX-License-Identifier: Apache-2.0
/// purlin-heat from its command line to its exit status.
#pragma once

namespace purlin::heat {

/// Throws what bad input, bad usage and devices throw.
int run_command(int argc, const char* const* argv);

}  // namespace purlin::heat
