// SPDX-License-Identifier: Apache-2.0
/// What the readers of meshes share: walking through a file's words and bytes, and the mesh as a file lists it.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <newel/core/file_text.hpp>

#include "apps/fem/mesh.hpp"

namespace newel::fem::detail {

/// A mesh as its file lists it: nothing dropped, orientation as it comes.
struct RawMesh {
  std::string format;
  TetMesh mesh;
  std::vector<std::int64_t> node_tags;  ///< empty where the format counts from 1
  std::vector<std::int64_t> tet_tags;   ///< empty where the format has none
  std::vector<Point> node_vectors, tet_vectors;
  std::string vectors_name;
  std::int64_t skipped_elements = 0;
};

/// The bytes of a file, inflated where they are gzip. Throws InputError, "FILE: ...".
FileText open_text(const std::string& path);
/// The same of bytes in memory, which must outlive the result.
FileText inflate_text(std::string_view bytes, const std::string& name);

/// The type behind a number of 4 or 8 bytes, or fewer, turned where the file has the other byte order.
template <class T>
T turned(T value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Whether two words are the same but for upper and lower case.
bool same_keyword(std::string_view a, std::string_view b);

/// Walks through words, lines and binary numbers. Lines are counted when something is wrong, not before.
class MeshText {
 public:
  /// `comment` starts a comment up to the end of its line; 0: there are none.
  MeshText(const std::string& path, std::string_view text, char comment = 0)
      : path_(path), text_(text), comment_(comment) {}

  /// The next word, empty at the end.
  std::string_view word();
  /// The same, left in place.
  std::string_view peek();
  /// The rest of the line without its end, which is passed.
  std::string_view line();
  /// Passes the end of a line, where binary data begins behind it.
  void end_line();
  /// Passes what stands before `mark` and the mark; throws where it is missing.
  void skip_past(std::string_view mark);
  /// Passes bytes; throws where they are not there.
  void skip_bytes(std::uint64_t count);

  template <class T>
  T number(const char* expected) {
    const std::string_view found = word();
    T value{};
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc() || end != found.data() + found.size() || found.empty()) expect(expected, found);
    return value;
  }
  /// A number in text, as matrix files have them: also with Fortran's exponents; nan and inf too.
  double real(const char* expected);
  /// Of entries that follow, each of at least `smallest_entry` bytes: what the rest of the file cannot hold is
  /// refused before memory is taken.
  void check_count(std::int64_t count, const char* expected, std::size_t smallest_entry) const;

  /// A binary number; `swap`: in the other byte order.
  template <class T>
  T raw(bool swap) {
    if (left() < sizeof(T)) expect_bytes("more binary data", "the end of the file");
    T value;
    std::memcpy(&value, text_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return swap ? turned(value) : value;
  }

  std::size_t left() const { return text_.size() - at_; }

  /// "FILE:LINE: expected ..., found ..."; an empty `found` is the end of the file.
  [[noreturn]] void expect(const std::string& expected, std::string_view found) const;
  /// The same for the line that was passed last.
  [[noreturn]] void expect_before_line(const std::string& expected, std::string_view found);
  /// The same with the byte in place of the line.
  [[noreturn]] void expect_bytes(const std::string& expected, const std::string& found) const;

 private:
  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  char comment_;
};

/// A finite number in text.
double read_coordinate(MeshText& text, const char* expected = "a coordinate");
/// How many entries follow, as `check_count` allows them.
std::size_t read_count(MeshText& text, const char* expected, std::size_t smallest_entry);
/// A binary number that has just been read, if it is finite.
double finite_number(const MeshText& text, double value);

RawMesh read_medit_text(const std::string& path, std::string_view text);
RawMesh read_gmsh_text(const std::string& path, std::string_view text);
RawMesh read_vtk_text(const std::string& path, std::string_view text);

/// Refuses tetrahedra with nodes on their edges, in the same words for every format.
[[noreturn]] void refuse_curved(const std::string& path, int nodes);

}  // namespace newel::fem::detail
