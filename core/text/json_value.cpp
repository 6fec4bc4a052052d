// SPDX-License-Identifier: Apache-2.0
// JSON by recursive descent.
#include "core/text/json_value.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include <newel/core/error.hpp>

namespace newel::detail {
namespace {

void append_quoted(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_number(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "null";
  } else if (std::isinf(number)) {
    out += number > 0 ? "1e999" : "-1e999";
  } else {
    constexpr double most_exact = 9007199254740992;  // 2^53
    const bool negative_zero = number == 0 && std::signbit(number);
    const bool whole = !negative_zero && number == std::floor(number) && std::fabs(number) < most_exact;
    char digits[32];
    char* const end = digits + sizeof digits;
    out.append(digits, (whole ? std::to_chars(digits, end, static_cast<long long>(number))
                              : std::to_chars(digits, end, number))
                           .ptr);
  }
}

void append(std::string& out, const JsonValue& json) {
  if (const auto* truth = std::get_if<bool>(&json.value)) {
    out += *truth ? "true" : "false";
  } else if (const auto* number = std::get_if<double>(&json.value)) {
    append_number(out, *number);
  } else if (const auto* text = std::get_if<std::string>(&json.value)) {
    append_quoted(out, *text);
  } else if (const auto* array = std::get_if<JsonValue::Array>(&json.value)) {
    const char* before = "[";
    for (const JsonValue& element : *array) {
      out += before;
      append(out, element);
      before = ", ";
    }
    out += array->empty() ? "[]" : "]";
  } else if (const auto* object = std::get_if<JsonValue::Object>(&json.value)) {
    const char* before = "{";
    for (const auto& [name, member] : *object) {
      out += before;
      append_quoted(out, name);
      out += ": ";
      append(out, member);
      before = ", ";
    }
    out += object->empty() ? "{}" : "}";
  } else {
    out += "null";
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  JsonValue whole() {
    JsonValue json = value(0);
    skip_space();
    if (at_ != text_.size()) fail("text after the end of the value");
    return json;
  }

 private:
  static constexpr int deepest = 16;

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError("invalid JSON: " + what + " at character " + std::to_string(at_));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\n\r").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    skip_space();
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  JsonValue value(int depth) {
    if (depth > deepest) fail("nested too deep");
    skip_space();
    switch (next()) {
      case '{':
        return {object(depth)};
      case '[':
        return {array(depth)};
      case '"':
        return {string()};
      default:
        if (take_word("true")) return {true};
        if (take_word("false")) return {false};
        if (take_word("null")) return {nullptr};
        return {number()};
    }
  }

  JsonValue::Object object(int depth) {
    JsonValue::Object members;
    expect('{');
    if (take('}')) return members;
    do {
      skip_space();
      if (next() != '"') fail("expected a name");
      std::string name = string();
      expect(':');
      if (!members.emplace(std::move(name), value(depth + 1)).second) fail("a name that occurs twice");
    } while (take(','));
    expect('}');
    return members;
  }

  JsonValue::Array array(int depth) {
    JsonValue::Array elements;
    expect('[');
    if (take(']')) return elements;
    do elements.push_back(value(depth + 1));
    while (take(','));
    expect(']');
    return elements;
  }

  // Escapes beyond ASCII are refused: what the library writes has none.
  std::string string() {
    std::string found;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("a control character in a string");
      found += text_[at_] == '\\' ? escaped() : text_[at_];
    }
    if (at_ == text_.size()) fail("a string that does not end");
    ++at_;
    return found;
  }
  char escaped() {
    constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    ++at_;
    const std::size_t which = letters.find(next());
    if (next() != '\0' && which != std::string_view::npos) return meant[which];
    unsigned code = 0x80;
    const std::string_view digits = text_.substr(at_ < text_.size() ? at_ + 1 : at_, 4);
    if (next() == 'u' && digits.size() == 4) {
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + 4, code, 16);
      if (error != std::errc() || end != digits.data() + 4) code = 0x80;
    }
    if (code >= 0x80) fail("an escape that is not supported");
    at_ += 4;
    return static_cast<char>(code);
  }

  double number() {
    const bool plus = next() == '+' || next() == '.';
    double found = 0;
    const char* const first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), found);
    const bool letters =
        next() == 'i' || next() == 'n' || text_.substr(at_, 2) == "-i" || text_.substr(at_, 2) == "-n";
    if (plus || letters || error == std::errc::invalid_argument) fail("expected a value");
    // Beyond a double: too large, or too small, which the exponent tells.
    if (error == std::errc::result_out_of_range) {
      const std::string_view digits(first, static_cast<std::size_t>(end - first));
      const bool small = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
      found = small ? 0 : std::numeric_limits<double>::infinity();
      if (digits.front() == '-') found = -found;
    }
    at_ += static_cast<std::size_t>(end - first);
    return found;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string json_text(const JsonValue& value) {
  std::string out;
  append(out, value);
  return out;
}

JsonValue parse_json(std::string_view text) { return Parser(text).whole(); }

}  // namespace newel::detail
