// SPDX-License-Identifier: Apache-2.0
// Decisions as text.
#include <newel/solver/decision.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>
#include "core/text/json_value.hpp"

namespace newel {
namespace {

using detail::JsonValue;
using Object = JsonValue::Object;

constexpr const char* version_key = "newel_decision";
constexpr double version = 1;

// The fields of each struct by name, for the writer and the reader alike.
template <class Visitor>
void each_field(const Visitor& visit, WeighedPrecond& p) {
  visit("name", p.name);
  visit("iteration_seconds", p.iteration_seconds);
  visit("build_seconds", p.build_seconds);
  visit("refresh_seconds", p.refresh_seconds);
  visit("now_seconds", p.now_seconds);
  visit("measured_iterations", p.measured_iterations);
}
template <class Visitor>
void each_field(const Visitor& visit, PrecondRanking& r) {
  visit("present", r.present);
  visit("stronger", r.stronger);
}
template <class Visitor>
void each_field(const Visitor& visit, RowCount& c) {
  visit("count", c.count);
  visit("first", c.first);
}
template <class Visitor>
void each_field(const Visitor& visit, MatrixTraits& t) {
  visit("rows", t.rows);
  visit("square", t.square);
  visit("pattern_symmetric", t.pattern_symmetric);
  visit("max_abs", t.max_abs);
  visit("least_row_max", t.least_row_max);
  visit("max_asymmetry", t.max_asymmetry);
  visit("relative_asymmetry", t.relative_asymmetry);
  visit("empty_rows", t.empty_rows);
  visit("missing_diagonal", t.missing_diagonal);
  visit("zero_diagonal", t.zero_diagonal);
  visit("negative_diagonal", t.negative_diagonal);
  visit("undamped_rows", t.undamped_rows);
}
template <class Visitor>
void each_field(const Visitor& visit, SystemDecision& d) {
  visit("format", d.format);
  visit("preconditioner", d.preconditioner);
  visit("solvers", d.solvers);
  visit("scaled", d.scaled);
  visit("matched", d.matched);
  visit("solves", d.history.solves);
  visit("last_iterations", d.history.last_iterations);
  visit("simple_iterations", d.history.simple_iterations);
  visit("simple_measured", d.history.simple_measured);
  visit("rows", d.rows);
  visit("entries", d.entries);
  visit("format_reason", d.reasons.format);
  visit("preconditioner_reason", d.reasons.preconditioner);
  visit("solver_reason", d.reasons.solver);
  visit("preconditioner_first", d.preconditioner_first);
  visit("expected_format", d.expected.format);
  visit("expected_iterations", d.expected.iterations);
  visit("change_failed", d.history.change_failed);
  visit("provisional", d.provisional);
  visit("untried", d.untried);
  visit("ranked", d.ranked);
  visit("builds_estimated", d.builds_estimated);
  visit("builds_by_values", d.builds_by_values);
  visit("weaker", d.weaker);
  visit("traits", d.traits);
  visit("traits_older", d.traits_older);
  visit("formats_estimated_for", d.expected.preconditioner);
  visit("format_iterations", d.history.format.iterations);
  visit("format_refreshes", d.history.format.refreshes);
  visit("preconditioner_iterations", d.history.preconditioner.iterations);
  visit("preconditioner_refreshes", d.history.preconditioner.refreshes);
  visit("weaker_iterations", d.history.whole.weaker_iterations);
  visit("weaker_seconds", d.history.whole.weaker_seconds);
  visit("iterations_since", d.history.whole.iterations);
  visit("slower_solves", d.history.whole.slower);
  visit("refreshes_since", d.history.whole.refreshes);
  visit("weaker_is_estimated", d.history.whole.estimated);
}

// ---- writing

template <class Struct>
JsonValue written(const Struct& from);

JsonValue to_json(bool truth) { return {truth}; }
JsonValue to_json(double number) { return {number}; }
JsonValue to_json(const std::string& text) { return {text}; }
template <class V>
JsonValue to_json(const V& value) {
  if constexpr (std::is_integral_v<V>) {
    return {static_cast<double>(value)};
  } else {
    return written(value);
  }
}
template <class V>
JsonValue to_json(const std::vector<V>& values) {
  JsonValue::Array array;
  for (const V& value : values) array.push_back(to_json(value));
  return {std::move(array)};
}
template <class V>
JsonValue to_json(const std::optional<V>& value) {
  return value ? to_json(*value) : JsonValue{nullptr};
}

template <class Struct>
JsonValue written(const Struct& from) {
  Struct copy = from;
  Object object;
  each_field([&](const char* name, const auto& field) { object[name] = to_json(field); }, copy);
  return {std::move(object)};
}

// ---- reading

[[noreturn]] void refuse(const std::string& name, const char* expected) {
  throw InputError("invalid decision: '" + name + "' is not " + expected);
}

template <class Struct>
void read_fields(const JsonValue& json, const std::string& name, Struct& to);

template <class V>
const V& as(const JsonValue& json, const std::string& name, const char* expected) {
  const V* const found = std::get_if<V>(&json.value);
  if (found == nullptr) refuse(name, expected);
  return *found;
}

void from_json(const JsonValue& json, const std::string& name, bool& to) {
  to = as<bool>(json, name, "true or false");
}
void from_json(const JsonValue& json, const std::string& name, double& to) {
  to = as<double>(json, name, "a number");
}
void from_json(const JsonValue& json, const std::string& name, std::string& to) {
  to = as<std::string>(json, name, "a string");
}
template <class V>
void from_json(const JsonValue& json, const std::string& name, V& to) {
  if constexpr (std::is_integral_v<V>) {
    constexpr const char* expected = "a whole number within its range";
    const double number = as<double>(json, name, expected);
    const double most = std::min(9007199254740992.0, static_cast<double>(std::numeric_limits<V>::max()));
    if (number != std::floor(number) || !(std::abs(number) <= most)) refuse(name, expected);
    to = static_cast<V>(number);
  } else {
    read_fields(json, name, to);
  }
}
template <class V>
void from_json(const JsonValue& json, const std::string& name, std::vector<V>& to) {
  to.clear();
  for (const JsonValue& element : as<JsonValue::Array>(json, name, "an array")) {
    from_json(element, name, to.emplace_back());
  }
}
template <class V>
void from_json(const JsonValue& json, const std::string& name, std::optional<V>& to) {
  to.reset();
  if (!json.null()) from_json(json, name, to.emplace());
}

template <class Struct>
void read_fields(const JsonValue& json, const std::string& name, Struct& to) {
  const auto& object = as<Object>(json, name, "an object");
  each_field(
      [&](const char* field_name, auto& field) {
        const auto found = object.find(field_name);
        if (found != object.end()) from_json(found->second, field_name, field);
      },
      to);
}

// Decisions of earlier releases judged the symmetry of the values by the largest entry of the matrix.
void judge_symmetry_as_before(const Object& json, SystemDecision& d) {
  if (!d.traits || !(d.traits->max_abs > 0)) return;
  const auto& traits = std::get<Object>(json.at("traits").value);
  if (traits.count("relative_asymmetry") > 0) return;
  d.traits->relative_asymmetry = d.traits->max_asymmetry / d.traits->max_abs;
}

// Counts, of which none is negative.
void check_counts(const SystemDecision& d) {
  const auto check = [](double number, const char* name) {
    if (!(number >= 0)) refuse(name, "0 or more");
  };
  check(d.history.solves, "solves");
  check(d.history.last_iterations, "last_iterations");
  check(d.history.simple_iterations, "simple_iterations");
  check(d.history.simple_measured, "simple_measured");
  check(d.rows, "rows");
  check(static_cast<double>(d.entries), "entries");
  check(d.expected.iterations, "expected_iterations");
  check(d.history.format.refreshes, "format_refreshes");
  check(d.history.preconditioner.refreshes, "preconditioner_refreshes");
  check(d.history.whole.weaker_iterations, "weaker_iterations");
  check(d.history.whole.weaker_seconds, "weaker_seconds");
  check(d.history.whole.iterations, "iterations_since");
  check(d.history.whole.slower, "slower_solves");
  check(d.history.whole.refreshes, "refreshes_since");
}

}  // namespace

std::string json_of(const SystemDecision& decision) {
  JsonValue json = written(decision);
  std::get<Object>(json.value)[version_key] = {version};
  return detail::json_text(json);
}

SystemDecision decision_of(std::string_view text) {
  const JsonValue json = detail::parse_json(text);
  const auto& object = as<Object>(json, "the text", "an object");
  const auto found = object.find(version_key);
  if (found == object.end()) throw InputError(std::string("invalid decision: expected '") + version_key + "'");
  if (as<double>(found->second, version_key, "a number") != version) {
    throw InputError("the decision has another version than " + detail::json_text({version}));
  }
  SystemDecision decision;
  read_fields(json, "the text", decision);
  judge_symmetry_as_before(object, decision);
  check_counts(decision);
  return decision;
}

}  // namespace newel
