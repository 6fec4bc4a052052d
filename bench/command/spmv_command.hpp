// SPDX-License-Identifier: Apache-2.0
/// `newel bench spmv`: the products of all formats, timed and checked.
#pragma once

#include "command_line.hpp"
#include "spmv_result.hpp"

namespace newel::cli {

/// Measures system after system, prints its tables and writes the files anew behind each. Returns exit_converged, or
/// exit_wrong_product where a format multiplied wrongly, else exit_bad_input where a matrix could not be read, which
/// is a line of its own and of stderr. Throws InputError, DeviceError, OutOfMemory for what stops the whole run; what
/// a single format refuses is a line of its table.
[[nodiscard]] int run_bench(const BenchOptions& options, const std::string& command_line);

/// exit_wrong_product where a line is wrong, else exit_bad_input where a matrix could not be read.
[[nodiscard]] int bench_exit_status(const BenchResult& result);

}  // namespace newel::cli
