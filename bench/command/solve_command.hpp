// SPDX-License-Identifier: Apache-2.0
/// `newel bench solve`: whole solves and their iterations, timed and judged.
#pragma once

#include "command_line.hpp"
#include "solve_result.hpp"

namespace newel::cli {

/// Measures system after system, prints its table and writes the files anew behind each, and says on stderr where a
/// matrix could not be read, which is a line of its own, and where none of ours converged. Returns
/// `bench_exit_status`; what others, or some of ours without saying so, did not solve is a line of the table. Throws
/// InputError, DeviceError, OutOfMemory for what stops the whole run.
[[nodiscard]] int run_bench_solve(const BenchSolveOptions& options, const std::string& command_line);

/// exit_wrong_product where one of ours called converged what is not, else exit_bad_input where a matrix could not be
/// read; exit_not_converged where all of ours were refused or none converged, on any system
/// (`any_of_ours_succeeded`); else exit_converged.
[[nodiscard]] int bench_exit_status(const BenchSolveResult& result);

}  // namespace newel::cli
