// SPDX-License-Identifier: Apache-2.0
/// The report of a solve as one page for a browser, which needs no other file: report.html with the report in it.
#pragma once

#include <string>

namespace newel::cli {

/// The page of the JSON report, as text, and of the printed report. A script in the page draws everything from the
/// JSON; a browser without scripts shows the printed report. Neither text can end its place in the page.
std::string html_page(const std::string& json, const std::string& printed);

/// report.html, which CMake makes a string of. Internal.
extern const char* const html_template;

}  // namespace newel::cli
