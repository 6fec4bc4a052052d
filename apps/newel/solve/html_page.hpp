// SPDX-License-Identifier: Apache-2.0
/// The report of a solve as one page that needs nothing else: no other file, no script.
#pragma once

#include <string>

#include "apps/common/json_file.hpp"

namespace newel::cli {

/// HTML that is XML as well, made of the JSON report (`solve_json`) alone, so that the two say the same: how it ended
/// and what to try, the residual over iterations and over time, what was chosen and why, where time and memory went,
/// the matrix, the command. Light and dark.
std::string html_page(const Json& report);

/// Its parts, each a section or "". Internal.
std::string history_sections(const Json& report);
std::string choice_sections(const Json& report);
std::string cost_sections(const Json& report);

/// The style sheet. Internal.
extern const char* const page_style;

}  // namespace newel::cli
