// SPDX-License-Identifier: Apache-2.0
// The legacy VTK format: an unstructured grid, text or binary (big-endian), with the first vectors of points and
// cells. What its keywords mean: "VTK file formats", part "Simple legacy formats", and the changes of version 5.1.
#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>

#include "apps/fem/mesh_text.hpp"
#include "apps/fem/vtk_numbers.hpp"

namespace newel::fem::detail {
namespace {

constexpr std::int64_t vtk_tetrahedron = 10, quadratic_tetrahedron = 24, lagrange_tetrahedron = 71,
                       bezier_tetrahedron = 78;

// Numbers of a file, and values that are passed.
struct VtkNumbers {
  MeshText text;
  bool binary = false;

  // How many values follow, of the type that is named next or was.
  void check(std::int64_t count, const char* expected, VtkType type) {
    // A value takes two characters of text at least, the last one less.
    text.check_count(count, expected, binary ? (type == VtkType::bit ? 1 : vtk_bytes(type)) : 1);
  }

  std::int64_t integer(const char* expected, VtkType type = VtkType::int32) {
    if (!binary) return text.number<std::int64_t>(expected);
    switch (type) {
      case VtkType::int64:
        return text.raw<std::int64_t>(vtk_swap);
      case VtkType::uint64:  // what is too large turns negative, which no point number is
        return static_cast<std::int64_t>(text.raw<std::uint64_t>(vtk_swap));
      case VtkType::uint32:
        return text.raw<std::uint32_t>(vtk_swap);
      default:
        return text.raw<std::int32_t>(vtk_swap);
    }
  }

  double finite(const char* expected, VtkType type) {
    if (!binary) return read_coordinate(text, expected);
    return finite_number(text, raw_vtk_number(text, type));
  }

  // From the next line on, or where the line's end is passed already from here on.
  void skip_values(std::int64_t tuples, std::int64_t components, VtkType type, bool at_line_begin = false) {
    constexpr std::int64_t most_components = 1 << 20;
    if (components < 0 || components > most_components) {
      text.expect("a number of components", std::to_string(components));
    }
    if (tuples < 0 || tuples > static_cast<std::int64_t>(text.left())) {
      text.expect("values that the rest of the file can hold", std::to_string(tuples));
    }
    const std::int64_t count = tuples * components;
    if (binary) {
      if (!at_line_begin) text.end_line();
      text.skip_bytes(type == VtkType::bit ? static_cast<std::uint64_t>(count + 7) / 8
                                           : static_cast<std::uint64_t>(count) * vtk_bytes(type));
      return;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      if (text.word().empty()) text.expect("a value", "");
    }
  }

  void skip_strings(std::int64_t components, std::int64_t tuples) {
    text.word();
    text.end_line();
    if (components < 0 || tuples < 0 || components > 64 || tuples > static_cast<std::int64_t>(text.left())) {
      text.expect("a number of strings", std::to_string(tuples));
    }
    for (std::int64_t k = 0; k < components * tuples; ++k) {
      if (text.left() == 0) text.expect("a string", "");
      binary ? skip_binary_string() : static_cast<void>(text.line());
    }
  }

  // The upper two bits of a string's first byte give the number of bytes of its length.
  void skip_binary_string() {
    const auto first = text.raw<std::uint8_t>(false);
    const int more = first >> 6 == 3 ? 0 : first >> 6 == 2 ? 1 : first >> 6 == 1 ? 3 : 7;
    std::uint64_t length = first & 0x3f;
    for (int k = 0; k < more; ++k) length = length << 8 | text.raw<std::uint8_t>(false);
    text.skip_bytes(length);
  }

  void skip_metadata() {
    text.line();
    while (text.left() > 0 && !text.line().empty()) {
    }
  }
};

// Cells by their corners: cell c has the numbers first[c] .. first[c + 1] - 1 of `corners`.
struct VtkCells {
  std::vector<std::int64_t> first, corners, types;

  void read_corners(VtkNumbers& in);
  void read_types(VtkNumbers& in);

 private:
  void read_old(VtkNumbers& in, std::int64_t cells, std::int64_t size);
  void read_new(VtkNumbers& in, std::int64_t offsets, std::int64_t size);
};

// In either of two layouts.
void VtkCells::read_corners(VtkNumbers& in) {
  if (!first.empty()) in.text.expect("one section CELLS", "another");
  const auto n = in.text.number<std::int64_t>("a number of cells");
  const auto size = in.text.number<std::int64_t>("a number of integers");
  in.check(n, "a number of cells", VtkType::uint8);
  in.check(size, "a number of integers", in.binary ? VtkType::int32 : VtkType::uint8);
  if (vtk_upper(in.text.peek().substr(0, 7)) == "OFFSETS") {
    read_new(in, n, size);
  } else {
    read_old(in, n, size);
  }
}

void VtkCells::read_old(VtkNumbers& in, std::int64_t cells, std::int64_t size) {
  if (in.binary) in.text.end_line();
  first.assign(1, 0);
  first.reserve(static_cast<std::size_t>(cells) + 1);
  corners.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, size - cells)));
  for (std::int64_t c = 0; c < cells; ++c) {
    const std::int64_t length = in.integer("a number of corners");
    if (length < 0 || length > size) in.text.expect("a number of corners", std::to_string(length));
    for (std::int64_t k = 0; k < length; ++k) corners.push_back(in.integer("a point number"));
    first.push_back(static_cast<std::int64_t>(corners.size()));
  }
}

void VtkCells::read_new(VtkNumbers& in, std::int64_t offsets, std::int64_t size) {
  in.text.word();
  VtkType type = read_vtk_type(in.text);
  const auto values = [&](std::int64_t count, const char* expected, std::vector<std::int64_t>& to) {
    in.check(count, expected, in.binary ? type : VtkType::uint8);
    if (in.binary) in.text.end_line();
    const bool wide = type == VtkType::int64 || type == VtkType::uint64;
    if (!wide && type != VtkType::int32 && type != VtkType::uint32) {
      in.text.expect("vtktypeint64 or int", "another type");
    }
    to.resize(static_cast<std::size_t>(count));
    for (std::int64_t& value : to) value = in.integer(expected, type);
  };
  if (offsets < 1) in.text.expect("one offset or more", std::to_string(offsets));
  values(offsets, "an offset", first);
  if (const auto word = in.text.word(); vtk_upper(word) != "CONNECTIVITY") in.text.expect("CONNECTIVITY", word);
  type = read_vtk_type(in.text);
  values(size, "a point number", corners);
  const bool ascends = std::is_sorted(first.begin(), first.end());
  if (first.front() != 0 || first.back() != size || !ascends) {
    in.text.expect_bytes("offsets from 0 to " + std::to_string(size) + " that never decrease", "others");
  }
}

void VtkCells::read_types(VtkNumbers& in) {
  if (!types.empty()) in.text.expect("one section CELL_TYPES", "another");
  const auto n = in.text.number<std::int64_t>("a number of cells");
  const auto cells = static_cast<std::int64_t>(first.size()) - 1;
  if (n != cells) in.text.expect("types for " + std::to_string(cells) + " cells", std::to_string(n));
  in.check(n, "a number of cells", in.binary ? VtkType::int32 : VtkType::uint8);
  if (in.binary) in.text.end_line();
  types.resize(static_cast<std::size_t>(n));
  for (std::int64_t& type : types) type = in.integer("a cell type");
}

class VtkReader {
 public:
  VtkReader(const std::string& path, std::string_view text) : path_(path), in_{MeshText(path, text)} {}

  RawMesh read() {
    read_head();
    for (auto word = in_.text.word(); !word.empty(); word = in_.text.word()) read_section(vtk_upper(word), word);
    return finish();
  }

 private:
  void read_head() {
    in_.text.skip_past("Version");
    const std::string_view version = in_.text.word();
    in_.text.line();
    in_.text.line();  // the title
    const std::string kind = vtk_upper(in_.text.peek());
    if (kind != "ASCII" && kind != "BINARY") in_.text.expect("ASCII or BINARY", in_.text.peek());
    in_.binary = kind == "BINARY";
    in_.text.word();
    if (vtk_upper(in_.text.peek()) != "DATASET") in_.text.expect("DATASET", in_.text.peek());
    in_.text.word();
    if (const auto set = in_.text.word(); vtk_upper(set) != "UNSTRUCTURED_GRID")
      in_.text.expect("UNSTRUCTURED_GRID", set);
    raw_.format = "legacy VTK " + std::string(version.substr(0, 8)) + (in_.binary ? " binary" : " ASCII");
  }

  void read_section(const std::string& keyword, std::string_view word) {
    if (keyword == "POINTS") {
      read_points();
    } else if (keyword == "CELLS") {
      cells_.read_corners(in_);
    } else if (keyword == "CELL_TYPES") {
      cells_.read_types(in_);
      take_tetrahedra();
    } else if (keyword == "POINT_DATA" || keyword == "CELL_DATA") {
      on_points_ = keyword == "POINT_DATA";
      tuples_ = in_.text.number<std::int64_t>("a number of values");
      const std::size_t expected = on_points_ ? raw_.mesh.nodes.size() : cells_.types.size();
      if (tuples_ != static_cast<std::int64_t>(expected)) {
        in_.text.expect("values for " + std::to_string(expected) + (on_points_ ? " points" : " cells"),
                        std::to_string(tuples_));
      }
    } else if (keyword == "FIELD") {
      read_field();
    } else if (keyword == "METADATA") {
      in_.skip_metadata();
    } else if (tuples_ < 0) {
      in_.text.expect("POINTS, CELLS, CELL_TYPES, POINT_DATA or CELL_DATA", word);
    } else {
      read_attribute(keyword, word);
    }
  }

  void read_points() {
    if (!raw_.mesh.nodes.empty()) in_.text.expect("one section POINTS", "another");
    const auto n = in_.text.number<std::int64_t>("a number of points");
    const VtkType type = read_vtk_type(in_.text);
    if (n < 1) in_.text.expect("a number of points", std::to_string(n));
    in_.text.check_count(n, "a number of points", in_.binary ? 3 * vtk_bytes(type) : std::strlen("0 0 0"));
    if (in_.binary) in_.text.end_line();
    raw_.mesh.nodes.resize(static_cast<std::size_t>(n));
    for (Point& p : raw_.mesh.nodes) {
      for (double& x : p) x = in_.finite("a coordinate", type);
    }
  }

  void take_tetrahedra() {
    for (std::size_t c = 0; c < cells_.types.size(); ++c) {
      const std::int64_t type = cells_.types[c];
      const std::int64_t corners = cells_.first[c + 1] - cells_.first[c];
      const bool curved = type == quadratic_tetrahedron || type == lagrange_tetrahedron || type == bezier_tetrahedron;
      if (curved) refuse_curved(path_, static_cast<int>(corners));
      if (type != vtk_tetrahedron) {
        ++raw_.skipped_elements;
        continue;
      }
      if (corners != 4) {
        in_.text.expect_bytes("4 corners in tetrahedron " + std::to_string(c), std::to_string(corners));
      }
      Tet tet;
      for (int k = 0; k < 4; ++k) {
        const std::int64_t number = cells_.corners[static_cast<std::size_t>(cells_.first[c]) + k];
        if (number < 0 || number >= raw_.mesh.node_count()) {
          in_.text.expect_bytes("point numbers from 0 to " + std::to_string(raw_.mesh.node_count() - 1) +
                                    " in cell " + std::to_string(c),
                                std::to_string(number));
        }
        tet[k] = static_cast<Index>(number);
      }
      raw_.mesh.tets.push_back(tet);
    }
  }

  // Whether vectors at the present place (points or cells) are still searched for.
  bool wanted() const { return tuples_ >= 0 && (on_points_ ? raw_.node_vectors : cell_vectors_).empty(); }

  void read_vectors(VtkType type, const std::string& name) {
    std::vector<Point>& vectors = on_points_ ? raw_.node_vectors : cell_vectors_;
    in_.text.check_count(tuples_, "a number of vectors", in_.binary ? 3 * vtk_bytes(type) : std::strlen("0 0 0"));
    if (in_.binary) in_.text.end_line();
    vectors.resize(static_cast<std::size_t>(tuples_));
    for (Point& v : vectors) {
      for (double& x : v) x = in_.finite("a component", type);
    }
    (on_points_ ? node_name_ : cell_name_) = name;
  }

  void read_field() {
    in_.text.word();  // its name
    const auto arrays = in_.text.number<std::int64_t>("a number of arrays");
    for (std::int64_t a = 0; a < arrays; ++a) {
      if (vtk_upper(in_.text.peek()) == "METADATA") {
        in_.text.word();
        in_.skip_metadata();
      }
      const std::string name = vtk_decoded(in_.text.word());
      const auto components = in_.text.number<std::int64_t>("a number of components");
      const auto tuples = in_.text.number<std::int64_t>("a number of values");
      if (vtk_upper(in_.text.peek()) == "STRING") {
        in_.skip_strings(components, tuples);
        continue;
      }
      const VtkType type = read_vtk_type(in_.text);
      const bool real = type == VtkType::float32 || type == VtkType::float64;
      if (components == 3 && real && tuples == tuples_ && wanted()) {
        read_vectors(type, name);
      } else {
        in_.skip_values(tuples, components, type);
      }
    }
  }

  void read_attribute(const std::string& keyword, std::string_view word) {
    const std::string name = vtk_decoded(in_.text.word());
    if (keyword == "LOOKUP_TABLE") {
      // The name behind SCALARS, or a table of four colours per entry.
      const auto size = in_.text.number<std::int64_t>("the size of a table");
      in_.skip_values(size, 4, in_.binary ? VtkType::uint8 : VtkType::float32);
    } else if (keyword == "COLOR_SCALARS") {
      const auto components = in_.text.number<std::int64_t>("a number of components");
      in_.skip_values(tuples_, components, in_.binary ? VtkType::uint8 : VtkType::float32);
    } else if (keyword == "SCALARS") {
      const VtkType type = read_vtk_type(in_.text);
      std::int64_t components = 1;
      const std::string_view rest = in_.text.line();
      if (const auto digit = rest.find_first_not_of(" \t"); digit != std::string_view::npos) {
        std::from_chars(rest.data() + digit, rest.data() + rest.size(), components);
      }
      if (vtk_upper(in_.text.peek()) == "LOOKUP_TABLE") {
        in_.text.word();
        in_.text.word();
        if (in_.binary) in_.text.end_line();
      }
      in_.skip_values(tuples_, components, type, true);
    } else if (keyword == "VECTORS" || keyword == "NORMALS") {
      const VtkType type = read_vtk_type(in_.text);
      keyword == "VECTORS" && wanted() ? read_vectors(type, name) : in_.skip_values(tuples_, 3, type);
    } else if (keyword == "TENSORS" || keyword == "TENSORS6") {
      in_.skip_values(tuples_, keyword == "TENSORS" ? 9 : 6, read_vtk_type(in_.text));
    } else if (keyword == "TEXTURE_COORDINATES") {
      const auto components = in_.text.number<std::int64_t>("a number of components");
      in_.skip_values(tuples_, components, read_vtk_type(in_.text));
    } else if (keyword == "GLOBAL_IDS" || keyword == "PEDIGREE_IDS") {
      in_.skip_values(tuples_, 1, read_vtk_type(in_.text));
    } else {
      in_.text.expect("an attribute such as SCALARS, VECTORS or FIELD", word);
    }
  }

  RawMesh finish() {
    if (raw_.mesh.nodes.empty()) in_.text.expect("a section POINTS", "");
    if (cells_.types.empty()) in_.text.expect("sections CELLS and CELL_TYPES", "");
    if (raw_.mesh.tets.empty()) in_.text.expect_bytes("tetrahedra (cells of type 10)", "none");
    if (!cell_vectors_.empty()) {
      for (std::size_t c = 0; c < cells_.types.size(); ++c) {
        if (cells_.types[c] == vtk_tetrahedron) raw_.tet_vectors.push_back(cell_vectors_[c]);
      }
    }
    raw_.vectors_name = raw_.node_vectors.empty() ? cell_name_ : node_name_;
    return std::move(raw_);
  }

  const std::string& path_;
  VtkNumbers in_;
  RawMesh raw_;
  VtkCells cells_;
  bool on_points_ = false;
  std::int64_t tuples_ = -1;  // of POINT_DATA or CELL_DATA, -1 before either
  std::vector<Point> cell_vectors_;
  std::string node_name_, cell_name_;
};

}  // namespace

RawMesh read_vtk_text(const std::string& path, std::string_view text) { return VtkReader(path, text).read(); }

}  // namespace newel::fem::detail
