// SPDX-License-Identifier: Apache-2.0
// The Medit ASCII reader: a stream of words with line numbers, of which two sections are kept.
#include "apps/fem/mesh.hpp"

#include <zlib.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include <purlin/core/error.hpp>

namespace purlin::fem {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) { throw InputError(path + ": " + what); }

// The whole text; zlib hands plain files through.
std::string read_text(const std::string& path) {
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose_r);
  if (!file) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  gzbuffer(file.get(), 1 << 18);
  std::string text;
  constexpr std::size_t piece = 1 << 22;
  int got = 0;
  do {
    const std::size_t used = text.size();
    text.resize(used + piece);
    got = gzread(file.get(), text.data() + used, piece);
    text.resize(used + static_cast<std::size_t>(got > 0 ? got : 0));
  } while (got > 0);
  int status = Z_OK;
  gzerror(file.get(), &status);
  if (status == Z_ERRNO) fail(path, std::string("cannot be read: ") + std::strerror(errno));
  if (status != Z_OK && status != Z_STREAM_END) fail(path, "the gzip stream is cut or broken");
  return text;
}

class Words {
 public:
  Words(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  // The next word, empty at the end; `#` starts a comment up to the end of its line.
  std::string_view next() {
    skip_blanks();
    std::size_t length = 0;
    while (length < rest_.size() && !is_blank(rest_[length]) && rest_[length] != '#') ++length;
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }
  // The next word, left in place.
  std::string_view peek() {
    const Words before = *this;
    const std::string_view word = next();
    rest_ = before.rest_;
    line_ = before.line_;
    return word;
  }

  template <class T>
  T number(const char* expected) {
    const std::string_view word = next();
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || word.empty()) expect(expected, word);
    return value;
  }
  double coordinate() {
    const double value = number<double>("a coordinate");
    if (!std::isfinite(value)) expect("a finite coordinate", "nan or inf");
    return value;
  }

  [[noreturn]] void expect(const std::string& expected, std::string_view found) const {
    constexpr std::size_t longest = 40;
    throw InputError(path_ + ":" + std::to_string(line_) + ": expected " + expected + ", found " +
                     (found.empty() ? "the end of the file" : "'" + std::string(found.substr(0, longest)) + "'"));
  }

  std::size_t left() const { return rest_.size(); }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  void skip_blanks() {
    std::size_t at = 0;
    bool comment = false;
    for (; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (c == '\n') {
        ++line_;
        comment = false;
      } else if (c == '#') {
        comment = true;
      } else if (!comment && !is_blank(c)) {
        break;
      }
    }
    rest_.remove_prefix(at);
  }

  const std::string& path_;
  std::string_view rest_;
  std::int64_t line_ = 1;
};

bool starts_keyword(std::string_view word) {
  return !word.empty() && ((word[0] >= 'A' && word[0] <= 'Z') || (word[0] >= 'a' && word[0] <= 'z'));
}

// How many entries follow; what the rest of the file cannot hold is refused before memory is taken.
std::size_t read_count(Words& words, const char* expected, std::size_t smallest_entry) {
  const auto count = words.number<std::int64_t>(expected);
  if (count < 0 || count > std::numeric_limits<Index>::max()) words.expect(expected, std::to_string(count));
  if (static_cast<std::size_t>(count) > words.left() / smallest_entry) {
    words.expect(std::string(expected) + " that the rest of the file can hold", std::to_string(count));
  }
  return static_cast<std::size_t>(count);
}

void read_vertices(Words& words, TetMesh& mesh) {
  mesh.nodes.resize(read_count(words, "a number of vertices", std::strlen("0 0 0 0")));
  for (Point& point : mesh.nodes) {
    for (double& x : point) x = words.coordinate();
    words.number<std::int64_t>("a reference number");
  }
}

void read_tetrahedra(Words& words, TetMesh& mesh) {
  mesh.tets.resize(read_count(words, "a number of tetrahedra", std::strlen("1 1 1 1 0")));
  for (Tet& tet : mesh.tets) {
    for (Index& corner : tet) {
      const auto number = words.number<std::int64_t>("a vertex number");
      if (number < 1 || number > mesh.node_count()) {
        words.expect("a vertex number in 1 .. " + std::to_string(mesh.node_count()), std::to_string(number));
      }
      corner = static_cast<Index>(number - 1);
    }
    words.number<std::int64_t>("a reference number");
  }
}

}  // namespace

TetMesh read_medit(const std::string& path) {
  const std::string text = read_text(path);
  Words words(path, text);
  if (const auto word = words.next(); word != "MeshVersionFormatted") words.expect("MeshVersionFormatted", word);
  words.number<int>("a format version");

  TetMesh mesh;
  bool dimension = false;
  for (auto word = words.next(); !word.empty() && word != "End"; word = words.next()) {
    if (!starts_keyword(word)) words.expect("a keyword", word);
    if (word == "Dimension") {
      const auto value = words.number<int>("the dimension 3");
      if (value != 3) words.expect("the dimension 3", std::to_string(value));
      dimension = true;
    } else if (word == "Vertices") {
      if (!dimension) words.expect("Dimension before Vertices", word);
      if (!mesh.nodes.empty()) words.expect("one section of Vertices", "another");
      read_vertices(words, mesh);
    } else if (word == "Tetrahedra") {
      if (mesh.nodes.empty()) words.expect("Vertices before Tetrahedra", word);
      if (!mesh.tets.empty()) words.expect("one section of Tetrahedra", "another");
      read_tetrahedra(words, mesh);
    } else {
      for (auto skipped = words.peek(); !skipped.empty() && !starts_keyword(skipped); skipped = words.peek()) {
        words.next();
      }
    }
  }
  if (mesh.nodes.empty()) words.expect("a section of Vertices", "");
  if (mesh.tets.empty()) words.expect("a section of Tetrahedra", "");
  return mesh;
}

}  // namespace purlin::fem
