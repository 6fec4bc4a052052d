// SPDX-License-Identifier: Apache-2.0
// Words, lines and bytes of a mesh file, with the place where something is wrong.
#include "apps/fem/mesh_text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/context.hpp>
#include <newel/core/error.hpp>

namespace newel::fem::detail {
namespace {

// nan and inf, which results may hold where numbers are not used; 0 for all else.
double number_of_words(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && !std::isfinite(value) ? value : 0;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The next place that is neither blank nor in a comment; `mark` starts one, 0: there are none.
std::size_t after_blanks(std::string_view text, std::size_t at, char mark) {
  bool comment = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') {
      comment = false;
    } else if (mark != 0 && c == mark) {
      comment = true;
    } else if (!comment && !is_blank(c)) {
      break;
    }
  }
  return at;
}

}  // namespace

bool same_keyword(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

FileText open_text(const std::string& path) { return {Context<Space::host>(1), path}; }

FileText inflate_text(std::string_view bytes, const std::string& name) {
  return {Context<Space::host>(1), bytes, name};
}

std::string_view MeshText::word() {
  const std::size_t begin = at_ = after_blanks(text_, at_, comment_);
  while (at_ < text_.size() && !is_blank(text_[at_]) && (comment_ == 0 || text_[at_] != comment_)) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view MeshText::peek() {
  const std::size_t before = at_;
  const std::string_view found = word();
  at_ = before;
  return found;
}

std::string_view MeshText::line() {
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view found = text_.substr(at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
  return found;
}

void MeshText::end_line() {
  const std::string_view rest = line();
  if (rest.find_first_not_of(" \t") != std::string_view::npos) expect("the end of the line", rest);
}

void MeshText::skip_past(std::string_view mark) {
  const std::size_t found = text_.find(mark, at_);
  if (found == std::string_view::npos) {
    at_ = text_.size();
    expect(std::string(mark), "");
  }
  at_ = found + mark.size();
}

void MeshText::skip_bytes(std::uint64_t count) {
  if (count > left()) expect_bytes(std::to_string(count) + " more bytes", std::to_string(left()));
  at_ += static_cast<std::size_t>(count);
}

double MeshText::real(const char* expected) {
  const std::string_view found = word();
  double value = 0;
  const NumberStatus status = parse_number(found, value);
  if (status == NumberStatus::ok) return value;
  if (status == NumberStatus::overflow) expect("a finite " + std::string(expected).substr(2), found);
  value = number_of_words(found);
  if (value == 0) expect(expected, found);
  return value;
}

void MeshText::check_count(std::int64_t count, const char* expected, std::size_t smallest_entry) const {
  if (count < 0 || count > std::numeric_limits<Index>::max()) expect(expected, std::to_string(count));
  if (static_cast<std::size_t>(count) > left() / smallest_entry) {
    expect(std::string(expected) + " that the rest of the file can hold", std::to_string(count));
  }
}

void MeshText::expect(const std::string& expected, std::string_view found) const {
  constexpr std::size_t longest = 40;
  const auto lines = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  std::string shown(found.substr(0, longest));
  for (char& c : shown) c = static_cast<unsigned char>(c) < ' ' ? '?' : c;  // bytes of a binary file
  throw InputError(path_ + ":" + std::to_string(1 + lines) + ": expected " + expected + ", found " +
                   (found.empty() ? "the end of the file" : "'" + shown + "'"));
}

void MeshText::expect_before_line(const std::string& expected, std::string_view found) {
  if (at_ > 0 && text_[at_ - 1] == '\n') --at_;
  expect(expected, found);
}

void MeshText::expect_bytes(const std::string& expected, const std::string& found) const {
  throw InputError(path_ + ": byte " + std::to_string(at_) + ": expected " + expected + ", found " + found);
}

double read_coordinate(MeshText& text, const char* expected) {
  const double value = text.real(expected);
  if (!std::isfinite(value)) text.expect("a finite " + std::string(expected).substr(2), "nan or inf");
  return value;
}

std::size_t read_count(MeshText& text, const char* expected, std::size_t smallest_entry) {
  const auto count = text.number<std::int64_t>(expected);
  text.check_count(count, expected, smallest_entry);
  return static_cast<std::size_t>(count);
}

double finite_number(const MeshText& text, double value) {
  if (!std::isfinite(value)) text.expect_bytes("a finite number", "nan or inf");
  return value;
}

void refuse_curved(const std::string& path, int nodes) {
  throw InputError(path + ": expected tetrahedra with 4 nodes, found some with " + std::to_string(nodes) +
                   ": make the mesh with first-order elements (Gmsh: Mesh.ElementOrder = 1)");
}

}  // namespace newel::fem::detail
