// SPDX-License-Identifier: Apache-2.0
/// `purlin bench` becomes the program `purlin-bench` next to `purlin`.
#pragma once

namespace purlin::cli {

/// Runs it in place of this process, with the same arguments. Throws InputError that says how to build it where it is
/// not there; does not return otherwise.
[[noreturn]] void become_bench(char* argv[]);

}  // namespace purlin::cli
