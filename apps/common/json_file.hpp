// SPDX-License-Identifier: Apache-2.0
/// JSON reports as files: one top-level field a line group, long arrays of numbers on one line.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace newel::cli {

using Json = nlohmann::ordered_json;

/// The text of `report`. Numbers that are not finite become null; bytes that are not UTF-8 (in file names) become
/// the replacement character.
std::string format_json(const Json& report);

/// null for no words, and for no number.
inline Json or_null(const std::string& words) { return words.empty() ? Json() : Json(words); }
inline Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

/// An object with these fields, in their order.
template <class Value>
Json object_of(const std::vector<std::pair<std::string, Value>>& pairs) {
  Json result = Json::object();
  for (const auto& [name, value] : pairs) result[name] = value;
  return result;
}

}  // namespace newel::cli
