// SPDX-License-Identifier: Apache-2.0
#include <purlin/core/table.hpp>

#include <cctype>

#include <purlin/core/error.hpp>

namespace purlin {

std::string canonical_name(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != '-' && c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

void refuse_second_line(const std::string& kind, const std::string& name) {
  throw InputError("there is a " + kind + " '" + name + "' already");
}

}  // namespace purlin
