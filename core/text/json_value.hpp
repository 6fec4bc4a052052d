// SPDX-License-Identifier: Apache-2.0
/// JsonValue: small texts in JSON, written and read. Internal.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace newel::detail {

/// A value of RFC 8259. Numbers are doubles, of which every bit survives being written and read; what is beyond a
/// double ("1e999") is infinite, and so is written. Members of an object are sorted by name.
struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue>;
  std::variant<std::nullptr_t, bool, double, std::string, Array, Object> value = nullptr;

  bool null() const { return std::holds_alternative<std::nullptr_t>(value); }
};

/// On one line. A number that is none (NaN) becomes null.
std::string json_text(const JsonValue& value);

/// Throws InputError "WHAT at character N" for a text that is no JSON, or in which arrays and objects are nested more
/// than 16 deep.
JsonValue parse_json(std::string_view text);

}  // namespace newel::detail
