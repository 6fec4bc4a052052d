// SPDX-License-Identifier: Apache-2.0
/// The measurements of `newel bench spmv` for people.
#pragma once

#include <string>

#include "spmv_result.hpp"

namespace newel::cli {

/// The machine, its copy bandwidth, what is written before cold products.
std::string bench_head_text(const BenchResult& result);

/// The line above a system's tables, known before it is measured.
std::string bench_system_text(const BenchSystem& system);

/// Two tables: speeds and errors; the model and the setup. A contender that refused has its reason instead, and what
/// is wrong says WRONG.
std::string bench_table_text(const BenchSystem& system, const bench::CopyBandwidth& copy);

/// The geometric means over all systems.
std::string bench_means_text(const BenchResult& result);

}  // namespace newel::cli
