// SPDX-License-Identifier: Apache-2.0
// Escaping, and figures as people read them.
#include "html_text.hpp"

#include <cmath>

#include <newel/core/error.hpp>

#include "apps/common/printable.hpp"
#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

// The field, or null.
const Json& field(const Json& report, const std::string& pointer) {
  static const Json none;
  const Json::json_pointer path(pointer);
  return report.contains(path) ? report.at(path) : none;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : without_controls(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string shown_residual(double value) { return text("%.2e", value); }
std::string shown_count(double value) { return thousands(std::llround(value)); }
std::string shown_seconds(double value) { return duration(value); }
std::string shown_bytes(double value) { return human_bytes(static_cast<std::uint64_t>(value)); }
std::string shown_plain(double value) { return text("%g", value); }

std::string figure(const Json& report, const std::string& pointer, Shown shown) {
  const Json& value = field(report, pointer);
  if (!value.is_number()) return "-";
  return "<data data-field=\"" + escaped(pointer) + "\" value=\"" + value.dump() + "\">" +
         escaped(shown(value.get<double>())) + "</data>";
}

std::string words(const Json& report, const std::string& pointer) {
  const Json& value = field(report, pointer);
  return value.is_string() ? escaped(value.get<std::string>()) : "";
}

std::string section(std::string_view title, const std::string& content) {
  if (content.empty()) return "";
  return "<section>\n<h2>" + escaped(title) + "</h2>\n" + content + "</section>\n";
}

}  // namespace newel::cli
