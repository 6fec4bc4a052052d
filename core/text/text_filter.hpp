// SPDX-License-Identifier: Apache-2.0
/// TextFilter: leaves comments and blank lines out of a text that is read piece by piece, and remembers where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace newel::detail {

/// Lines that were left out in front of the character at `offset` of the text that is kept.
struct LeftOut {
  std::size_t offset = 0;
  std::int64_t lines = 0;
};

/// Keeps the first line that is not blank, the banner, and all lines of data; drops blank lines, lines whose first
/// word begins with %, blanks in front of the first word, and a byte-order mark of UTF-8. Lines may end with a line
/// feed, with both a carriage return and a line feed, or with a carriage return alone: whichever ends the first line.
/// The last kind becomes line feeds. What is remembered is one number for each run of lines left out, so that it
/// takes no more room than the lines between them.
class TextFilter {
 public:
  /// Works on `size` characters in place and returns how many of them stay, at the front.
  std::size_t keep(char* text, std::size_t size);

  /// In ascending order of their offsets.
  const std::vector<LeftOut>& left_out() const { return left_out_; }

 private:
  enum class Ends { unknown, line_feed, carriage_return };

  void note_left_out();
  void find_ends(const char* text, const char* end);

  std::vector<LeftOut> left_out_;
  std::size_t kept_ = 0;  // characters so far
  Ends ends_ = Ends::unknown;
  bool at_start_ = true;   // of a line: nothing but blanks so far
  bool dropping_ = false;  // inside of a comment
  bool any_line_ = false;  // the first line has begun
};

}  // namespace newel::detail
