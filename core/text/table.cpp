// SPDX-License-Identifier: Apache-2.0
#include <newel/core/table.hpp>

#include <newel/core/error.hpp>

namespace newel {

namespace {

bool is_passed_over(char c) { return c == '-' || c == '_'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string canonical_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (!is_passed_over(c)) result += lower(c);
  }
  return result;
}

bool same_name(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  for (;;) {
    while (i < a.size() && is_passed_over(a[i])) ++i;
    while (j < b.size() && is_passed_over(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (lower(a[i++]) != lower(b[j++])) return false;
  }
}

void refuse_second_line(const std::string& kind, const std::string& name) {
  throw InputError("a " + kind + " named '" + name + "' is already registered");
}

}  // namespace newel
