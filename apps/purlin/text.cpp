// SPDX-License-Identifier: Apache-2.0
// Numbers and names as words.
#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <numeric>

namespace purlin::cli {
namespace {

// Levenshtein's distance: insertions, deletions and replacements.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

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

std::string join(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
  return result;
}

std::string nearest_name(std::string_view given, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t fewest = std::max<std::size_t>(given.size() / 3, 1) + 1;
  for (const std::string& name : names) {
    const std::size_t edits = edits_between(given, name);
    if (edits < fewest) {
      fewest = edits;
      nearest = name;
    }
  }
  return nearest;
}

std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(given, names);
  return "unknown " + std::string(kind) + " '" + std::string(given) + '\'' +
         (nearest.empty() ? "" : " (did you mean " + nearest + "?)") + "; there are " + join(names);
}

std::string shell_quoted(const std::string& argument) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./:,=+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!argument.empty() && std::all_of(argument.begin(), argument.end(), plain)) return argument;
  std::string quoted = "'";
  for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

std::string labelled(std::string_view label, const std::string& value) {
  return text("  %-15.*s ", static_cast<int>(label.size()), label.data()) + value + '\n';
}

}  // namespace purlin::cli
