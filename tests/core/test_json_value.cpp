// SPDX-License-Identifier: Apache-2.0
// Small texts in JSON: what is written is read again, and nothing else is.
#include "tests/catch.hpp"

#include "core/text/json_value.hpp"

using detail::json_text;
using detail::JsonValue;
using detail::parse_json;

TEST_CASE("JSON is written on one line, by the letter", "[json]") {
  JsonValue::Object object;
  object["b"] = {JsonValue::Array{{1.0}, {-0.5}, {true}, {nullptr}}};
  object["a \"quote\""] = {std::string("back\\slash\n")};
  object["c"] = {JsonValue::Object{}};
  CHECK(json_text({object}) == R"({"a \"quote\"": "back\\slash\u000a", "b": [1, -0.5, true, null], "c": {}})");
  CHECK(json_text({std::nan("")}) == "null");
}

TEST_CASE("Every bit of a number survives", "[json]") {
  for (const double number : {0.0, -0.0, 0.1, 1.0 / 3, 1e-310, 5e-324, 1.7976931348623157e308, -123456789.0,
                              std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    const double again = std::get<double>(parse_json(json_text({number})).value);
    CHECK(again == number);
    CHECK(std::signbit(again) == std::signbit(number));
  }
  CHECK(std::get<double>(parse_json("1e-999").value) == 0);
}

TEST_CASE("JSON is read as the standard has it", "[json]") {
  const JsonValue json = parse_json(" {\"x\" : [ 1e3 ,\"\\u0041\\t/\" , [ ] ], \"y\":null}\n");
  const auto& object = std::get<JsonValue::Object>(json.value);
  const auto& array = std::get<JsonValue::Array>(object.at("x").value);
  CHECK(std::get<double>(array[0].value) == 1000);
  CHECK(std::get<std::string>(array[1].value) == "A\t/");
  CHECK(std::get<JsonValue::Array>(array[2].value).empty());
  CHECK(object.at("y").null());
}

TEST_CASE("What is no JSON is refused, every beginning of a text too", "[json]") {
  const std::string sound = R"({"a": [1.5, "x\u0041"], "b": {"c": true}})";
  CHECK_NOTHROW(parse_json(sound));
  for (std::size_t length = 0; length < sound.size(); ++length) {
    CHECK_THROWS_AS(parse_json(sound.substr(0, length)), InputError);
  }
  for (const char* bad : {"", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "nul", "nan", "inf", "-inf", "+1", ".5",
                          "\"\\x\"", "\"\\u00e4\"", "\"\\u12\"", "\"a\nb\"", "1 2", "{a:1}", "'a'"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_json(bad), InputError);
  }
  CHECK_THROWS_AS(parse_json(std::string(100000, '[')), InputError);
}
