// SPDX-License-Identifier: Apache-2.0
// Escapes and numbers of XML files.
#include "apps/fem/xml_text.hpp"

#include <charconv>

namespace newel::fem::detail {
namespace {

struct Entity {
  char plain;
  std::string_view written;
};
constexpr Entity entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    std::string_view written(&c, 1);
    for (const Entity& entity : entities) {
      if (entity.plain == c) written = entity.written;
    }
    result += written;
  }
  return result;
}

std::string xml_unescaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::size_t length = 1;
    char plain = text[0];
    for (const Entity& entity : entities) {
      if (text.substr(0, entity.written.size()) != entity.written) continue;
      plain = entity.plain;
      length = entity.written.size();
    }
    result += plain;
    text.remove_prefix(length);
  }
  return result;
}

std::string exact_text(double value) {
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, static_cast<std::size_t>(end - text));
}

}  // namespace newel::fem::detail
