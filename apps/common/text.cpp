// SPDX-License-Identifier: Apache-2.0
// Numbers and names as words; control characters written out, byte by byte of UTF-8.
#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include <newel/core/table.hpp>

namespace newel::cli {

std::string text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string result(static_cast<std::size_t>(std::max(length, 0)), '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  return result;
}

std::string thousands(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t end = digits.size(); end > first + 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

std::string count_of(std::int64_t number, std::string_view singular, std::string_view plural) {
  return thousands(number) + ' ' + std::string(number == 1 ? singular : plural);
}

std::string duration(double seconds) {
  if (!(seconds >= 1e-3)) return text("%.0f us", 1e6 * seconds);
  if (seconds < 1) return text("%.3g ms", 1e3 * seconds);
  return text(seconds < 100 ? "%.2f s" : "%.0f s", seconds);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string join(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result;
}

std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string>& names) {
  return "unknown " + std::string(kind) + " '" + std::string(given) + '\'' + did_you_mean(given, names) +
         "; expected one of: " + join(names);
}

std::string shell_quoted(const std::string& argument) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./:,=+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), plain)) return argument;
  if (without_controls(argument) != argument) {  // what bash, zsh and ksh read, and POSIX since 2024
    std::string escaped;
    for (const char c : argument) escaped += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    return "$'" + without_controls(escaped) + '\'';
  }
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

std::string command_text(int argc, const char* const* argv) {
  std::string typed = "newel";
  for (int i = 1; i < argc; ++i) typed += ' ' + shell_quoted(argv[i]);
  return typed;
}

std::string labelled(std::string_view label, const std::string& value) {
  return text("  %-15.*s ", static_cast<int>(label.size()), label.data()) + value + '\n';
}

namespace {

// With line feeds in them, longest first: one may be a part of another.
std::vector<std::string>& names_with_line_feeds() {
  static std::vector<std::string> names;
  return names;
}

struct Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool valid = false;
};

// The character that begins at `text`; not valid where that is no UTF-8.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t size = lead >= 0xf0 && lead < 0xf5   ? 4
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                                                         : 1;
  if (size == 1 || text.size() < size) return {};
  std::uint32_t code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  const std::uint32_t least = size == 4 ? 0x10000 : size == 3 ? 0x800 : 0x80;
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least || code > 0x10ffff || surrogate ? Character{} : Character{size, code, true};
}

// Control characters of both sets, ends of lines, and marks, embeddings, overrides and isolates of direction.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string written_out(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\t") return "\\t";
  if (bytes == "\r") return "\\r";
  std::string result;
  for (const char c : bytes) result += text("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return result;
}

std::string written(std::string_view text, bool keep_line_feeds) {
  std::string result;
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::string_view bytes = text.substr(0, next.bytes);
    const bool keep = next.valid && (!is_control(next.code) || (keep_line_feeds && next.code == '\n'));
    result += keep ? std::string(bytes) : written_out(bytes);
    text.remove_prefix(next.bytes);
  }
  return result;
}

}  // namespace

std::string without_controls(std::string_view text) { return written(text, false); }

void set_printed_names(const std::vector<std::string>& names) {
  std::vector<std::string>& kept = names_with_line_feeds();
  kept.clear();
  for (const std::string& name : names) {
    if (name.find('\n') != std::string::npos && name != "\n") kept.push_back(name);
  }
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
}

std::string printable_lines(const std::string& lines) {
  std::string result = lines;
  for (const std::string& name : names_with_line_feeds()) {
    const std::string shown = without_controls(name);
    for (std::size_t at = result.find(name); at != std::string::npos; at = result.find(name, at + shown.size())) {
      result.replace(at, name.size(), shown);
    }
  }
  return written(result, true);
}

}  // namespace newel::cli
