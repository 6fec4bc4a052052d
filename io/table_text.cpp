// SPDX-License-Identifier: Apache-2.0
// Tables of text: a row of numbers in each line.
#include <algorithm>
#include <charconv>
#include <limits>

#include "core/vectors/instantiate.hpp"
#include "io/matrix_market/matrix_market_text.hpp"
#include "core/text/number_parse.hpp"
#include "io/file_parsers.hpp"

namespace newel::detail {
namespace {

bool separates(char c) { return c == ',' || c == ';' || is_blank(c); }

// Walks through a line, which ends with a line feed that is not part of it.
class TableLine {
 public:
  TableLine(const NamedText& text, const char* begin, const char* end) : text_(text), at_(begin), end_(end) {}

  // Appends the numbers of the line and returns how many there are.
  std::int64_t read(std::vector<double>& values) {
    std::int64_t count = 0;
    for (skip_blanks(); at_ < end_ && *at_ != '#'; ++count) {
      values.push_back(number());
      skip_blanks();
      if (at_ == end_ || *at_ == '#') continue;
      if (*at_ != ',' && *at_ != ';') continue;
      ++at_;
      skip_blanks();
      if (at_ == end_ || *at_ == '#') throw_expected(text_, at_, "a number after the comma");
    }
    return count;
  }

 private:
  void skip_blanks() {
    while (at_ < end_ && is_blank(*at_)) ++at_;
  }
  double number() {
    // The reader looks behind the number, where the last line of a text may have nothing.
    const char* last = std::find_if(at_, end_, [](char c) { return separates(c) || c == '#'; });
    const std::string word = std::string(at_, last) + '\n';
    const ParsedNumber found = read_number(word.data(), word.data() + word.size());
    if (found.status == NumberStatus::overflow) throw_expected(text_, at_, "a number that a double can hold");
    if (found.status != NumberStatus::ok || found.end != word.data() + word.size() - 1) {
      throw_expected(text_, at_, "a finite number");
    }
    at_ = last;
    return found.value;
  }

  const NamedText& text_;
  const char* at_;
  const char* end_;
};

}  // namespace

MatrixFile parse_table(const Context<Space::host>& ctx, std::string_view bytes, const std::string& name) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (bytes.substr(0, byte_order_mark.size()) == byte_order_mark) bytes.remove_prefix(byte_order_mark.size());
  const NamedText text{bytes, name};
  std::vector<double> values;
  std::int64_t rows = 0, cols = 0;
  for (const char* line = text.begin(); line < text.end();) {
    const char* next = next_line(line, text.end());
    const char* end = next > line && next[-1] == '\n' ? next - 1 : next;
    const std::int64_t count = TableLine(text, line, end).read(values);
    if (count > 0 && rows > 0 && count != cols) {
      throw_at(text, line, std::to_string(cols) + (cols == 1 ? " number" : " numbers") + ", as in the lines before",
               std::to_string(count));
    }
    cols = count > 0 ? count : cols;
    rows += count > 0 ? 1 : 0;
    line = next;
  }
  if (rows == 0) throw InputError(name + ": expected at least one line of numbers, found none");
  if (std::max(rows, cols) > std::numeric_limits<Index>::max()) {
    throw InputError(name + ": expected fewer lines, found more than 32-bit indices can number");
  }
  Array<double, Space::host> kept(ctx, static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), kept.begin());
  return full_matrix(ctx, rows, cols, std::move(kept), false);
}

template <class T>
void write_csv(FileWriter& file, Span<const T, Space::host> x, Index cols) {
  constexpr std::size_t longest_number = 32;
  const std::int64_t rows = x.size / cols;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      char* p = file.reserve(longest_number);
      p = std::to_chars(p, p + longest_number - 1, static_cast<double>(x[j * rows + i])).ptr;
      *p++ = j + 1 < cols ? ',' : '\n';
      file.advance(p);
    }
  }
  file.commit();
}

#define X(T, S) template void write_csv<T>(FileWriter&, Span<const T, S>, Index);
NEWEL_FOR_TYPES(X, ::newel::Space::host)
#undef X

}  // namespace newel::detail
