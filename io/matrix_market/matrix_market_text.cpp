// SPDX-License-Identifier: Apache-2.0
// Banner and size line of a Matrix Market file, and messages that name a line.
#include "io/matrix_market/matrix_market_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>

#include <newel/core/error.hpp>
#include "core/text/number_parse.hpp"
#include "core/text/starts_with.hpp"

namespace newel::detail {
namespace {

constexpr std::string_view banner_word = "%%matrixmarket";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view word, std::string_view lower_case) {
  return word.size() == lower_case.size() &&
         std::equal(word.begin(), word.end(), lower_case.begin(), [](char a, char b) { return lower(a) == b; });
}

// Behind a byte-order mark of UTF-8, blanks and empty lines.
const char* banner_begin(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (starts_with(text, byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  while (!text.empty() && (is_blank(text.front()) || text.front() == '\n')) text.remove_prefix(1);
  return text.data();
}

// What a file is that begins so and is no Matrix Market file; "" where that is not known.
std::string other_kind(std::string_view head) {
  using namespace std::string_view_literals;
  constexpr const char* utf16 = "text in UTF-16 (convert it: iconv -f UTF-16 -t UTF-8)";
  struct Kind {
    std::string_view start;
    const char* name;
  };
  constexpr Kind kinds[] = {
      {"\xff\xfe"sv, utf16},
      {"\xfe\xff"sv, utf16},
      {"%\0"sv, utf16},
      {"\0%"sv, utf16},
      {"\x93NUMPY"sv, "a NumPy array (.npy)"},
      {"BZh"sv, "a bzip2 file (decompress it; only gzip is supported)"},
      {"\xfd"
       "7zXZ\0"sv,
       "an xz file (decompress it; only gzip is supported)"},
      {"\x28\xb5\x2f\xfd"sv, "a zstd file (decompress it; only gzip is supported)"},
      {"\x89HDF"sv, "an HDF5 file"},
      {"MATLAB 5.0 MAT-file"sv, "a MATLAB file (.mat)"},
  };
  for (const Kind& kind : kinds) {
    if (starts_with(head, kind.start)) return kind.name;
  }
  // The first member of an .npz is called "indices.npy" or the like, 30 bytes behind the begin.
  if (starts_with(head, "PK\x03\x04") || starts_with(head, "PK\x05\x06")) {
    const bool numpy = head.substr(0, 512).find(".npy") != std::string_view::npos;
    return numpy ? "a NumPy archive (.npz; convert it with scipy.io.mmwrite)"
                 : "a zip archive (extract the matrix; only gzip is supported)";
  }
  constexpr std::size_t tar_mark = 257;
  if (head.size() > tar_mark && starts_with(head.substr(tar_mark), "ustar")) {
    return "a tar archive (extract it, and pass the .mtx file)";
  }
  return "";
}

// Walks over the words of one line.
class LineReader {
 public:
  LineReader(const NamedText& text, const char* line) : text_(text), next_(line) {
    end_ = line == text.end() ? line : static_cast<const char*>(std::memchr(line, '\n', text.end() - line));
    if (end_ == nullptr) end_ = text.end();
  }
  std::string_view word() {
    skip_blanks();
    const char* begin = next_;
    while (next_ < end_ && !is_blank(*next_)) ++next_;
    begin_ = begin;
    return {begin, static_cast<std::size_t>(next_ - begin)};
  }
  // One of `names`, in any case; its position in the list.
  template <std::size_t N>
  std::size_t one_of(const std::array<std::string_view, N>& names, const char* expected) {
    const std::string_view found = word();
    for (std::size_t i = 0; i < N; ++i) {
      if (same_word(found, names[i])) return i;
    }
    throw_expected(text_, begin_, expected);
  }
  Offset count(const char* expected, Offset largest) {
    const std::string_view digits = word();
    Offset value = 0;
    for (const char c : digits) {
      if (!is_digit(c)) throw_expected(text_, begin_, expected);
      if (value > (largest - (c - '0')) / 10) {
        throw_expected(text_, begin_, std::string(expected) + " of at most " + std::to_string(largest));
      }
      value = value * 10 + (c - '0');
    }
    if (digits.empty()) throw_expected(text_, begin_, expected);
    return value;
  }
  void finish(const char* after) {
    if (!word().empty()) throw_expected(text_, begin_, std::string("the end of the line after ") + after);
  }
  // Nothing stands on the line, or a comment.
  bool empty() {
    skip_blanks();
    return next_ == end_ || *next_ == '%';
  }

 private:
  void skip_blanks() {
    while (next_ < end_ && is_blank(*next_)) ++next_;
  }

  const NamedText& text_;
  const char* next_;
  const char* end_;
  const char* begin_ = nullptr;
};

// What the banner says must fit together.
void check_banner(const NamedText& text, const MatrixMarketHeader& header, ValueKinds kinds) {
  using Header = MatrixMarketHeader;
  const char* const at = banner_begin(text.text);
  const bool hermitian = header.symmetry == Header::Symmetry::hermitian;
  if (header.field == Header::Field::complex && kinds == ValueKinds::real) {
    throw_at(text, at, "real values", "'complex' (only real values can be read here)");
  }
  if (hermitian && header.field != Header::Field::complex) {
    throw_at(text, at, "complex values in a Hermitian matrix", "others");
  }
  if (header.field != Header::Field::pattern) return;
  if (header.layout == Header::Layout::array) {
    throw_at(text, at, "real or integer values in an array", "'pattern'");
  }
  if (header.symmetry == Header::Symmetry::skew_symmetric) {
    throw_at(text, at, "a general or symmetric pattern", "'skew-symmetric'");
  }
}

void read_banner(const NamedText& text, ValueKinds kinds, MatrixMarketHeader* header) {
  using Header = MatrixMarketHeader;
  check_banner_start(text.text, text.name);
  LineReader line(text, banner_begin(text.text));
  line.one_of(std::array<std::string_view, 1>{banner_word}, "%%MatrixMarket");
  line.one_of(std::array<std::string_view, 1>{"matrix"}, "the object 'matrix'");
  header->layout = static_cast<Header::Layout>(
      line.one_of(std::array<std::string_view, 2>{"coordinate", "array"}, "the layout 'coordinate' or 'array'"));
  // What SciPy writes for unsigned integers is read as integers are.
  constexpr std::array<Header::Field, 5> fields = {Header::Field::real, Header::Field::integer,
                                                   Header::Field::pattern, Header::Field::integer,
                                                   Header::Field::complex};
  header->field =
      fields[line.one_of(std::array<std::string_view, 5>{"real", "integer", "pattern", "unsigned-integer", "complex"},
                         "values 'real', 'integer', 'unsigned-integer', 'complex' or 'pattern'")];
  header->symmetry = static_cast<Header::Symmetry>(
      line.one_of(std::array<std::string_view, 4>{"general", "symmetric", "skew-symmetric", "hermitian"},
                  "the symmetry 'general', 'symmetric', 'skew-symmetric' or 'hermitian'"));
  line.finish("the symmetry");
  check_banner(text, *header, kinds);
}

void read_sizes(const NamedText& text, Preamble* preamble) {
  using Header = MatrixMarketHeader;
  Header& header = preamble->header;
  constexpr Offset largest = std::numeric_limits<Index>::max();
  LineReader line(text, preamble->size_line);
  header.rows = static_cast<Index>(line.count("a number of rows", largest));
  header.cols = static_cast<Index>(line.count("a number of columns", largest));
  const bool general = header.symmetry == Header::Symmetry::general;
  if (header.layout == Header::Layout::coordinate) {
    header.entries = line.count("a number of entries", std::numeric_limits<Offset>::max() / 1000);
    line.finish("rows, columns and entries");
  } else {
    line.finish("rows and columns");
    const Offset n = header.rows;
    const bool skew = header.symmetry == Header::Symmetry::skew_symmetric;
    header.entries = general ? n * header.cols : skew ? n * (n - 1) / 2 : n * (n + 1) / 2;
  }
  if (!general && header.rows != header.cols) {
    throw_at(text, preamble->size_line, "a square matrix, since the banner declares it symmetric",
             std::to_string(header.rows) + " x " + std::to_string(header.cols));
  }
}

}  // namespace

std::int64_t line_of(const NamedText& text, const char* at) {
  std::int64_t line = 1 + std::count(text.begin(), at, '\n');
  if (text.left_out == nullptr) return line;
  const auto offset = static_cast<std::size_t>(at - text.begin());
  for (const LeftOut& out : *text.left_out) {
    if (out.offset > offset) break;
    line += out.lines;
  }
  return line;
}

std::string describe_found(const NamedText& text, const char* at) {
  constexpr std::size_t longest = 40;
  while (at < text.end() && is_blank(*at)) ++at;
  if (at == text.end()) return "the end of the file";
  if (*at == '\n') return "the end of the line";
  std::string word = "'";
  std::size_t shown = 0;
  for (; at < text.end() && *at != '\n' && !is_blank(*at); ++at, ++shown) {
    if (shown == longest) return word + "...'";
    const auto byte = static_cast<unsigned char>(*at);
    if (byte > 0x20 && byte < 0x7f) {
      word += *at;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      word += escaped;
    }
  }
  return word + "'";
}

void throw_at(const NamedText& text, const char* at, const std::string& expected, const std::string& found) {
  throw InputError(text.name + ":" + std::to_string(line_of(text, at)) + ": expected " + expected + ", found " +
                   found);
}

void throw_expected(const NamedText& text, const char* at, const std::string& expected, const std::string& hint) {
  throw_at(text, at, expected, describe_found(text, at) + hint);
}

const char* next_line(const char* p, const char* end) {
  const void* feed = p == end ? nullptr : std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return feed == nullptr ? end : static_cast<const char*>(feed) + 1;
}

bool begins_as_matrix_market(std::string_view head) {
  const char* begin = banner_begin(head);
  return same_word(head.substr(static_cast<std::size_t>(begin - head.data())).substr(0, banner_word.size()),
                   banner_word);
}

void check_banner_start(std::string_view head, const std::string& name) {
  if (begins_as_matrix_market(head)) return;
  const NamedText text{head, name};
  const char* begin = banner_begin(head);
  const std::string kind = head.empty() ? "an empty file" : other_kind(head);
  throw_at(text, begin, "the banner %%MatrixMarket", kind.empty() ? describe_found(text, begin) : kind);
}

TextLines matrix_market_lines(std::string_view head, const std::string& name) {
  check_banner_start(head, name);
  return TextLines::without_comments;
}

Preamble read_preamble(const NamedText& text, ValueKinds kinds) {
  Preamble preamble;
  read_banner(text, kinds, &preamble.header);
  const char* line = next_line(banner_begin(text.text), text.end());
  while (line < text.end() && LineReader(text, line).empty()) line = next_line(line, text.end());
  preamble.size_line = line;
  preamble.data = next_line(line, text.end());
  read_sizes(text, &preamble);
  return preamble;
}

void check_proportion(const NamedText& text, const Preamble& preamble, Index length, const char* what, Offset entries,
                      Offset empty) {
  constexpr Offset per_entry = 16;
  if ((length - empty) / per_entry <= entries) return;
  throw_at(text, preamble.size_line, "fewer " + std::string(what) + " for so few entries",
           std::to_string(length) + " " + what + ", entries: " + std::to_string(entries));
}

}  // namespace newel::detail
