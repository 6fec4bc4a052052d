// SPDX-License-Identifier: Apache-2.0
/// `newel bench` becomes the program `newel-bench` next to `newel`.
#pragma once

namespace newel::cli {

/// Runs it in place of this process, with the same arguments. Throws InputError that says how to build it where it is
/// not there; does not return otherwise.
[[noreturn]] void become_bench(char* argv[]);

}  // namespace newel::cli
