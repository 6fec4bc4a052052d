// SPDX-License-Identifier: Apache-2.0
/// Reports as bytes, for ranks that take no part in a solve. Internal.
#pragma once

#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>

namespace newel::detail {

/// All fields; on the same machine and build.
std::string bytes_of(const std::vector<SolveReport>& reports);
std::vector<SolveReport> reports_of(const std::string& bytes);

/// All fields but the formats that were compared.
std::string bytes_of(const SystemInfo& info);
SystemInfo system_info_of(const std::string& bytes);

}  // namespace newel::detail
