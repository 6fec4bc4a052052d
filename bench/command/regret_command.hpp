// SPDX-License-Identifier: Apache-2.0
/// `newel bench regret`: the default choices against the best fixed ones.
#pragma once

#include "command_line.hpp"
#include "regret_result.hpp"

namespace newel::cli {

/// Measures system after system, prints its table and writes the files anew behind each, and the means at the end.
/// With BenchRegretOptions::continues the systems that the report has already are kept. Returns `bench_exit_status`.
/// Throws InputError, DeviceError, OutOfMemory for what stops the whole run.
[[nodiscard]] int run_bench_regret(const BenchRegretOptions& options, const std::string& command_line);

/// exit_wrong_product where something called converged what is not, else exit_bad_input where a matrix could not be
/// read; exit_not_converged where a combination solves a system and `auto` does not, or nothing converged on any
/// system; else exit_converged.
[[nodiscard]] int bench_exit_status(const RegretResult& result);

}  // namespace newel::cli
