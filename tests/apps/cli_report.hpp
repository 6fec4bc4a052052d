// SPDX-License-Identifier: Apache-2.0
/// The JSON report that a command wrote.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "tests/apps/process.hpp"

namespace newel::cli_testing {

using Json = nlohmann::json;

inline Json report_in(const TemporaryFolder& folder, const std::string& name = "r.json") {
  return Json::parse(file_content(folder.file(name)));
}

/// Whether a report begins as docs/reports.md says: schema, program, version.
inline bool begins_as_report(const std::string& text, const std::string& program) {
  const auto report = nlohmann::ordered_json::parse(text);
  auto field = report.begin();
  if (report.size() < 3 || field.key() != "schema" || field.value() != 1) return false;
  if ((++field).key() != "program" || field.value() != program) return false;
  return (++field).key() == "version" && field.value().is_string();
}

}  // namespace newel::cli_testing
