// SPDX-License-Identifier: Apache-2.0
/// The text of a Matrix Market file as the reader sees it: banner and sizes, places in it, and messages about them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <newel/io/matrix_market.hpp>
#include "core/text/text_source.hpp"

namespace newel::detail {

/// A text with the name that messages call it by.
struct NamedText {
  std::string_view text;
  const std::string& name;
  const std::vector<LeftOut>* left_out = nullptr;  ///< lines of the file that `text` lacks

  const char* begin() const { return text.data(); }
  const char* end() const { return text.data() + text.size(); }
};

/// 1-based line of the character `at`, which may be the end of the text. Counts: for messages only.
std::int64_t line_of(const NamedText& text, const char* at);

/// The word at `at` as a message shows it: quoted, shortened, unprintable bytes escaped; "the end of the line" or
/// "the end of the file" where no word stands.
std::string describe_found(const NamedText& text, const char* at);

/// Throws InputError "NAME:LINE: expected EXPECTED, found <the word at `at`>HINT".
[[noreturn]] void throw_expected(const NamedText& text, const char* at, const std::string& expected,
                                 const std::string& hint = {});

/// Throws InputError "NAME:LINE: expected EXPECTED, found FOUND" for the line of `at`.
[[noreturn]] void throw_at(const NamedText& text, const char* at, const std::string& expected,
                           const std::string& found);

/// The first character behind the line of `p`: behind its line feed, or `end`.
const char* next_line(const char* p, const char* end);

/// The front of a file: what it says and where its data begin.
struct Preamble {
  MatrixMarketHeader header;
  const char* size_line = nullptr;
  const char* data = nullptr;
};

/// Whether a text that begins with `head` has the first word of a Matrix Market file.
bool begins_as_matrix_market(std::string_view head);

/// Throws where it has not: a text that begins with `head` is no Matrix Market file, and names what it is where that
/// is known. A byte-order mark of UTF-8, blanks and empty lines may stand before the banner.
void check_banner_start(std::string_view head, const std::string& name);

/// The HeadCheck of such a file: the same, and the lines that its reader wants.
TextLines matrix_market_lines(std::string_view head, const std::string& name);

/// Whether complex values are read, or refused.
enum class ValueKinds { real, complex_too };

/// Reads banner, comments and size line. Throws InputError with the line for everything that is not understood.
Preamble read_preamble(const NamedText& text, ValueKinds kinds = ValueKinds::real);

/// Throws InputError where `length` (of what the size line calls `what`) is out of proportion to the entries that
/// the file really holds, so that nothing is allocated on the header's word: more than `empty` and 16 per entry.
void check_proportion(const NamedText& text, const Preamble& preamble, Index length, const char* what, Offset entries,
                      Offset empty);

}  // namespace newel::detail
