// SPDX-License-Identifier: Apache-2.0
// Parameters: from JSON with comments to the members of a struct, and back.
#include "params.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/table.hpp>

#include "apps/common/text.hpp"
#include "checkpoint.hpp"

namespace newel::transient {
namespace {

using cli::Json;

constexpr std::size_t longest_quote = 40;

std::string shown(const Json& found) {
  std::string words = found.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (words.size() > longest_quote) words = words.substr(0, longest_quote) + "...";
  return words;
}

[[noreturn]] void refuse(const std::string& where, const std::string& expected, const Json& found) {
  throw InputError(where + ": expected " + expected + ", found " + shown(found));
}

double checked_number(const Json& found, const std::string& where, const NumberRange& range) {
  if (!found.is_number() || !range.holds(found.get<double>())) refuse(where, range.words("a number"), found);
  return found.get<double>();
}

std::int64_t checked_integer(const Json& found, const std::string& where, const NumberRange& range) {
  // Exact in double, so that the range means what it says; 1e3 is a whole number too.
  constexpr double most = 9007199254740992.0;
  const bool whole = found.is_number() && std::fabs(found.get<double>()) <= most &&
                     found.get<double>() == std::floor(found.get<double>());
  if (!whole || !range.holds(found.get<double>())) refuse(where, range.words("a whole number"), found);
  return static_cast<std::int64_t>(found.get<double>());
}

// The library keeps the last of two values under one name; a user who wrote both meant neither.
struct DuplicateNames {
  std::vector<std::set<std::string>> open;
  std::string found;

  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end && !open.empty()) open.pop_back();
    if (event == Json::parse_event_t::key && !open.empty() && found.empty()) {
      const std::string name = parsed.get<std::string>();
      if (!open.back().insert(name).second) found = name;
    }
    return true;
  }
};

std::string line_of(const std::string& json, std::size_t byte) {
  const auto end = json.begin() + static_cast<std::ptrdiff_t>(std::min(byte, json.size()));
  return std::to_string(1 + std::count(json.begin(), end, '\n'));
}

Json parse(const std::string& file, const std::string& json) {
  DuplicateNames duplicates;
  Json parsed;
  try {
    parsed = Json::parse(
        json.begin(), json.end(),
        [&](int depth, Json::parse_event_t event, Json& value) { return duplicates(depth, event, value); }, true,
        true);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...": the end says what.
    const std::string words = error.what();
    const std::size_t at = words.find(": ");
    throw InputError(file + ':' + line_of(json, error.byte) + ": expected JSON (with // comments): " +
                     (at == std::string::npos ? words : words.substr(at + 2)));
  } catch (const Json::exception& error) {  // a number that no double holds
    throw InputError(file + ": expected JSON with numbers in the range of double: " + error.what());
  }
  if (!duplicates.found.empty()) throw InputError(file + ": '" + duplicates.found + "' is given twice");
  if (!parsed.is_object()) throw InputError(file + ": expected an object { ... }, found " + shown(parsed));
  return parsed;
}

}  // namespace

bool NumberRange::holds(double value) const {
  if (!std::isfinite(value)) return false;
  return (above_least ? value > least : value >= least) && (below_most ? value < most : value <= most);
}

std::string NumberRange::words(const std::string& noun) const {
  const bool low = std::isfinite(least), high = std::isfinite(most);
  if (low && high && !above_least && !below_most) return noun + cli::text(" from %g to %g", least, most);
  std::string result = noun;
  if (low) result += cli::text(above_least ? " > %g" : " >= %g", least);
  if (high) result += cli::text(below_most ? "%s < %g" : "%s <= %g", low ? " and" : "", most);
  return result;
}

// `read` returns the checked value of what was found, or refuses it.
template <class Value, class Read>
ParamTable& ParamTable::add(const std::string& name, Value& value, const std::string& meaning, Read read) {
  entries_.push_back({name, meaning,
                      [&value, read](const Json& found, const std::string& where) { value = read(found, where); },
                      [&value] { return Json(value); }});
  return *this;
}

ParamTable& ParamTable::number(const std::string& name, double& value, const std::string& meaning,
                               NumberRange range) {
  return add(name, value, meaning,
             [range](const Json& found, const std::string& where) { return checked_number(found, where, range); });
}

ParamTable& ParamTable::integer(const std::string& name, std::int64_t& value, const std::string& meaning,
                                NumberRange range) {
  return add(name, value, meaning,
             [range](const Json& found, const std::string& where) { return checked_integer(found, where, range); });
}

ParamTable& ParamTable::choice(const std::string& name, std::string& value, const std::string& meaning,
                               const std::vector<std::string>& choices) {
  return add(name, value, meaning + " (" + cli::join(choices) + ")",
             [choices](const Json& found, const std::string& where) {
               if (std::find(choices.begin(), choices.end(), found) == choices.end()) {
                 refuse(where, "one of " + cli::join(choices), found);
               }
               return found.get<std::string>();
             });
}

ParamTable& ParamTable::point(const std::string& name, std::array<double, 3>& value, const std::string& meaning,
                              NumberRange range) {
  return add(name, value, meaning, [range](const Json& found, const std::string& where) {
    if (!found.is_array() || found.size() != 3) refuse(where, "three numbers [x, y, z]", found);
    std::array<double, 3> point;
    for (std::size_t i = 0; i < point.size(); ++i) point[i] = checked_number(found[i], where, range);
    return point;
  });
}

ParamTable& ParamTable::integers(const std::string& name, std::vector<std::int64_t>& value,
                                 const std::string& meaning, NumberRange range) {
  return add(name, value, meaning, [range](const Json& found, const std::string& where) {
    if (!found.is_array()) refuse(where, "a list of whole numbers", found);
    std::vector<std::int64_t> values;
    for (const Json& element : found) {
      values.push_back(checked_integer(element, where + " [" + std::to_string(values.size()) + "]", range));
    }
    return values;
  });
}

void ParamTable::set_all(const std::string& file, const std::string& prefix, const Json& object) {
  for (const auto& [key, found] : object.items()) {
    const std::string name = prefix + key;
    const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
    if (entry != entries_.end()) {
      entry->set(found, file + ": '" + name + "'");
      continue;
    }
    const bool group = std::any_of(entries_.begin(), entries_.end(),
                                   [&](const Entry& e) { return e.name.rfind(name + '.', 0) == 0; });
    if (group && found.is_object()) {
      set_all(file, name + '.', found);
      continue;
    }
    if (group) refuse(file + ": '" + name + "'", "an object { ... }", found);
    std::vector<std::string> names;
    for (const Entry& e : entries_) names.push_back(e.name);
    const std::string nearest = nearest_name(name, names);
    throw InputError(
        file + ": unknown name '" + name + "'" +
        (nearest.empty() ? "; expected one of: " + cli::join(names) : " (did you mean '" + nearest + "'?)"));
  }
}

void ParamTable::read_text(const std::string& file, const std::string& json) { set_all(file, "", parse(file, json)); }

void ParamTable::read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.good() && !stream.eof()) throw InputError(file + ": the parameters cannot be read");
  read_text(file, content);
}

Json ParamTable::values() const {
  Json result = Json::object();
  for (const Entry& entry : entries_) {
    Json* at = &result;
    for (const std::string& part : cli::split(entry.name, '.')) at = &(*at)[part];
    *at = entry.get();
  }
  return result;
}

std::string ParamTable::text() const {
  std::string result = "{\n";
  std::vector<std::string> open;  // the groups that the line before stood in
  bool first = true;
  const auto indent = [&] { return std::string(2 * (open.size() + 1), ' '); };
  for (const Entry& entry : entries_) {
    std::vector<std::string> groups = cli::split(entry.name, '.');
    const std::string leaf = groups.back();
    groups.pop_back();
    std::size_t shared = 0;
    while (shared < open.size() && shared < groups.size() && open[shared] == groups[shared]) ++shared;
    while (open.size() > shared) {
      open.pop_back();
      result += '\n' + indent() + '}';
    }
    if (!first) result += ",\n";
    first = false;
    while (open.size() < groups.size()) {
      result += indent() + '"' + groups[open.size()] + "\": {\n";
      open.push_back(groups[open.size()]);
    }
    result += indent() + "// " + entry.meaning + '\n' + indent() + '"' + leaf + "\": " + entry.get().dump();
  }
  while (!open.empty()) {
    open.pop_back();
    result += '\n' + indent() + '}';
  }
  return result + "\n}\n";
}

std::string ParamTable::fingerprint() const { return transient::fingerprint(values().dump()); }

}  // namespace newel::transient
