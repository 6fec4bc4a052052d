// SPDX-License-Identifier: Apache-2.0
/// newel-heat from its command line to its exit status.
#pragma once

namespace newel::heat {

/// Throws what bad input, bad usage and devices throw.
int run_command(int argc, const char* const* argv);

}  // namespace newel::heat
