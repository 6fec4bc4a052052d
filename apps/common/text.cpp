// SPDX-License-Identifier: Apache-2.0
// Numbers and names as words.
#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdarg>
#include <cstdio>

#include <newel/core/table.hpp>

#include "printable.hpp"

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

}  // namespace newel::cli
