// SPDX-License-Identifier: Apache-2.0
// Control characters written out, byte by byte of UTF-8.
#include "printable.hpp"

#include <algorithm>
#include <cstdint>

#include "text.hpp"

namespace newel::cli {
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
