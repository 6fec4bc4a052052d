// SPDX-License-Identifier: Apache-2.0
/// How every JSON report of our programs begins; docs/reports.md says what that promises.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include <newel/config.hpp>

namespace newel {

/// Of all reports. Raised when a field goes, or changes its name or meaning; fields may be added under the same
/// number.
inline constexpr int report_schema = 1;

/// schema, program and version; `program` says of which kind the report is: "newel solve", "newel-heart".
inline nlohmann::ordered_json report_head(const std::string& program) {
  return {{"schema", report_schema}, {"program", program}, {"version", NEWEL_VERSION}};
}

}  // namespace newel
