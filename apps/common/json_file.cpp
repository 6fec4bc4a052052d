// SPDX-License-Identifier: Apache-2.0
// Laying out JSON.
#include "json_file.hpp"

#include <algorithm>

namespace newel::cli {
namespace {

constexpr int indent = 2;

std::string dump(const Json& value, int width) {
  return value.dump(width, ' ', true, Json::error_handler_t::replace);
}

std::string indented(std::string block) {
  for (std::size_t at = block.find('\n'); at != std::string::npos; at = block.find('\n', at + 1)) {
    block.insert(at + 1, indent, ' ');
  }
  return block;
}

bool holds_plain_values(const Json& value) {
  return value.is_array() &&
         std::none_of(value.begin(), value.end(), [](const Json& v) { return v.is_structured(); });
}

}  // namespace

std::string format_json(const Json& report) {
  std::string result = "{";
  for (const auto& [name, value] : report.items()) {
    result += (result.size() == 1 ? "\n  " : ",\n  ") + dump(name, -1) + ": ";
    result += holds_plain_values(value) ? dump(value, -1) : indented(dump(value, indent));
  }
  return result + "\n}\n";
}

}  // namespace newel::cli
