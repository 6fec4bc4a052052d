// SPDX-License-Identifier: Apache-2.0
// Fields by their paths, quoting, and the shortest digits.
#include "csv.hpp"

#include <charconv>
#include <cmath>

#include "apps/common/text.hpp"

namespace newel::cli {
namespace {

struct Column {
  std::string name;
  Json::json_pointer field;
};

std::vector<Column> columns_of(const std::string& words) {
  std::vector<Column> columns;
  for (const std::string& word : split(words, ' ')) {
    const std::size_t equals = word.find('=');
    std::string path;
    for (const std::string& part : split(word.substr(equals == std::string::npos ? 0 : equals + 1), '.')) {
      path += '/' + part;
    }
    columns.push_back({word.substr(0, equals), Json::json_pointer(path)});
  }
  return columns;
}

std::string quoted(const std::string& words) {
  const std::string shown = without_controls(words);
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string result = "\"";
  for (const char c : shown) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string field_text(const Json& value, const std::string& name) {
  if (value.is_string()) return quoted(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? name : "";
  if (value.is_number_integer()) return value.dump();
  if (!value.is_number() || !std::isfinite(value.get<double>())) return "";
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value.get<double>()).ptr);
}

std::string line_text(const std::vector<Column>& columns, const Json& line, const Json& system) {
  std::string text;
  for (const Column& column : columns) {
    const Json& of = line.contains(column.field) ? line : system;
    text += (text.empty() && &column == &columns.front() ? "" : ",") +
            (of.contains(column.field) ? field_text(of.at(column.field), column.name) : "");
  }
  return text + '\n';
}

}  // namespace

std::string csv_of(const Json& report, const std::string& lines, const std::string& words) {
  const std::vector<Column> columns = columns_of(words);
  std::string csv;
  for (const Column& column : columns) csv += (csv.empty() ? "" : ",") + column.name;
  csv += '\n';
  for (const Json& system : report.at("systems")) {
    if (!system.at("refused").is_null()) csv += line_text(columns, Json::object(), system);
    for (const Json& line : system.at(lines)) csv += line_text(columns, line, system);
  }
  return csv;
}

}  // namespace newel::cli
