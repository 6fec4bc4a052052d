// SPDX-License-Identifier: Apache-2.0
/// The JSON report that a command wrote.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "tests/apps/process.hpp"

namespace purlin::cli_testing {

using Json = nlohmann::json;

inline Json report_in(const TemporaryFolder& folder, const std::string& name = "r.json") {
  return Json::parse(file_content(folder.file(name)));
}

}  // namespace purlin::cli_testing
