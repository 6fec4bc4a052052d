// SPDX-License-Identifier: Apache-2.0
/// The main function of the comparison programs.
#pragma once

namespace newel::bench {

/// Calls `run` and returns what it returns; prints what it throws, and returns 2 then.
int run_program(int argc, char* argv[], int (*run)(int argc, char* argv[]));

}  // namespace newel::bench
