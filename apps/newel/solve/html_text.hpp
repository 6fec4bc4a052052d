// SPDX-License-Identifier: Apache-2.0
/// Pieces of a page: escaped text, and figures that carry their field of the report with them.
#pragma once

#include <string>
#include <string_view>

#include "apps/common/json_file.hpp"

namespace newel::cli {

/// Text for HTML and XML, also within quotes: what would be markup becomes an entity, and a control character, which
/// XML does not have, the replacement character.
std::string escaped(std::string_view text);

/// A figure of the report as people read it.
using Shown = std::string (*)(double value);
std::string shown_residual(double value);  ///< "9.62e-09"
std::string shown_count(double value);     ///< "12,345"
std::string shown_seconds(double value);   ///< "1.25 ms"
std::string shown_bytes(double value);     ///< "1.2 MB"
std::string shown_plain(double value);     ///< "0.5"

/// `<data data-field="/seconds/solve" value="0.1953">195 ms</data>`: the field of the report, a JSON pointer, with
/// all digits that the report has of it, and as it is shown. A field that is null or absent is a dash.
std::string figure(const Json& report, const std::string& pointer, Shown shown);

/// A text of the report, escaped; "" for null and where there is none.
std::string words(const Json& report, const std::string& pointer);

/// `<section><h2>title</h2>content</section>`; nothing without content. The title is plain text.
std::string section(std::string_view title, const std::string& content);

/// A row of a table with a heading and cells, which are markup.
template <class... Cells>
std::string row(std::string_view heading, const Cells&... cells) {
  return "<tr><th scope=\"row\">" + escaped(heading) + "</th>" +
         (std::string() + ... + ("<td>" + std::string(cells) + "</td>")) + "</tr>\n";
}

}  // namespace newel::cli
