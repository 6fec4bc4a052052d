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

class VtkReader {
 public:
  VtkReader(const std::string& path, std::string_view text) : path_(path), text_(path, text) {}

  RawMesh read() {
    read_head();
    for (auto word = text_.word(); !word.empty(); word = text_.word()) read_section(vtk_upper(word), word);
    return finish();
  }

 private:
  void read_head() {
    text_.skip_past("Version");
    const std::string_view version = text_.word();
    text_.line();
    text_.line();  // the title
    const std::string kind = vtk_upper(text_.peek());
    if (kind != "ASCII" && kind != "BINARY") text_.expect("ASCII or BINARY", text_.peek());
    binary_ = kind == "BINARY";
    text_.word();
    if (vtk_upper(text_.peek()) != "DATASET") text_.expect("DATASET", text_.peek());
    text_.word();
    if (const auto set = text_.word(); vtk_upper(set) != "UNSTRUCTURED_GRID") text_.expect("UNSTRUCTURED_GRID", set);
    raw_.format = "legacy VTK " + std::string(version.substr(0, 8)) + (binary_ ? " binary" : " ASCII");
  }

  void read_section(const std::string& keyword, std::string_view word) {
    if (keyword == "POINTS") {
      read_points();
    } else if (keyword == "CELLS") {
      read_cells();
    } else if (keyword == "CELL_TYPES") {
      read_types();
    } else if (keyword == "POINT_DATA" || keyword == "CELL_DATA") {
      on_points_ = keyword == "POINT_DATA";
      tuples_ = text_.number<std::int64_t>("a number of values");
      const std::size_t expected = on_points_ ? raw_.mesh.nodes.size() : types_.size();
      if (tuples_ != static_cast<std::int64_t>(expected)) {
        text_.expect("values for " + std::to_string(expected) + (on_points_ ? " points" : " cells"),
                     std::to_string(tuples_));
      }
    } else if (keyword == "FIELD") {
      read_field();
    } else if (keyword == "METADATA") {
      skip_metadata();
    } else if (tuples_ < 0) {
      text_.expect("POINTS, CELLS, CELL_TYPES, POINT_DATA or CELL_DATA", word);
    } else {
      read_attribute(keyword, word);
    }
  }

  // How many values follow, of the type that is named next or was.
  void check(std::int64_t count, const char* expected, VtkType type) {
    // A value takes two characters of text at least, the last one less.
    text_.check_count(count, expected, binary_ ? (type == VtkType::bit ? 1 : vtk_bytes(type)) : 1);
  }

  std::int64_t integer(const char* expected, VtkType type = VtkType::int32) {
    if (!binary_) return text_.number<std::int64_t>(expected);
    switch (type) {
      case VtkType::int64:
        return text_.raw<std::int64_t>(vtk_swap);
      case VtkType::uint64:  // what is too large turns negative, which no point number is
        return static_cast<std::int64_t>(text_.raw<std::uint64_t>(vtk_swap));
      case VtkType::uint32:
        return text_.raw<std::uint32_t>(vtk_swap);
      default:
        return text_.raw<std::int32_t>(vtk_swap);
    }
  }

  double finite(const char* expected, VtkType type) {
    if (!binary_) return text_.coordinate(expected);
    const double value = raw_vtk_number(text_, type);
    if (!std::isfinite(value)) text_.expect_bytes("a finite number", "nan or inf");
    return value;
  }

  void read_points() {
    if (!raw_.mesh.nodes.empty()) text_.expect("one section POINTS", "another");
    const auto n = text_.number<std::int64_t>("a number of points");
    const VtkType type = read_vtk_type(text_);
    if (n < 1) text_.expect("a number of points", std::to_string(n));
    text_.check_count(n, "a number of points", binary_ ? 3 * vtk_bytes(type) : std::strlen("0 0 0"));
    if (binary_) text_.end_line();
    raw_.mesh.nodes.resize(static_cast<std::size_t>(n));
    for (Point& p : raw_.mesh.nodes) {
      for (double& x : p) x = finite("a coordinate", type);
    }
  }

  // Both layouts give cell c the numbers first_[c] .. first_[c + 1] of corners_.
  void read_cells() {
    if (!first_.empty()) text_.expect("one section CELLS", "another");
    const auto n = text_.number<std::int64_t>("a number of cells");
    const auto size = text_.number<std::int64_t>("a number of integers");
    check(n, "a number of cells", VtkType::uint8);
    check(size, "a number of integers", binary_ ? VtkType::int32 : VtkType::uint8);
    if (vtk_upper(text_.peek().substr(0, 7)) == "OFFSETS") {
      read_new_cells(n, size);
    } else {
      read_old_cells(n, size);
    }
  }

  void read_old_cells(std::int64_t cells, std::int64_t size) {
    if (binary_) text_.end_line();
    first_.assign(1, 0);
    first_.reserve(static_cast<std::size_t>(cells) + 1);
    corners_.reserve(static_cast<std::size_t>(std::max<std::int64_t>(0, size - cells)));
    for (std::int64_t c = 0; c < cells; ++c) {
      const std::int64_t corners = integer("a number of corners");
      if (corners < 0 || corners > size) text_.expect("a number of corners", std::to_string(corners));
      for (std::int64_t k = 0; k < corners; ++k) corners_.push_back(integer("a point number"));
      first_.push_back(static_cast<std::int64_t>(corners_.size()));
    }
  }

  void read_new_cells(std::int64_t offsets, std::int64_t size) {
    text_.word();
    VtkType type = read_vtk_type(text_);
    const auto values = [&](std::int64_t count, const char* expected, std::vector<std::int64_t>& to) {
      check(count, expected, binary_ ? type : VtkType::uint8);
      if (binary_) text_.end_line();
      const bool wide = type == VtkType::int64 || type == VtkType::uint64;
      if (!wide && type != VtkType::int32 && type != VtkType::uint32) {
        text_.expect("vtktypeint64 or int", "another type");
      }
      to.resize(static_cast<std::size_t>(count));
      for (std::int64_t& value : to) value = integer(expected, type);
    };
    if (offsets < 1) text_.expect("one offset or more", std::to_string(offsets));
    values(offsets, "an offset", first_);
    if (const auto word = text_.word(); vtk_upper(word) != "CONNECTIVITY") text_.expect("CONNECTIVITY", word);
    type = read_vtk_type(text_);
    values(size, "a point number", corners_);
    const bool ascends = std::is_sorted(first_.begin(), first_.end());
    if (first_.front() != 0 || first_.back() != size || !ascends) {
      text_.expect_bytes("offsets from 0 to " + std::to_string(size) + " that never decrease", "others");
    }
  }

  void read_types() {
    if (!types_.empty()) text_.expect("one section CELL_TYPES", "another");
    const auto n = text_.number<std::int64_t>("a number of cells");
    const auto cells = static_cast<std::int64_t>(first_.size()) - 1;
    if (n != cells) text_.expect("types for " + std::to_string(cells) + " cells", std::to_string(n));
    check(n, "a number of cells", binary_ ? VtkType::int32 : VtkType::uint8);
    if (binary_) text_.end_line();
    types_.resize(static_cast<std::size_t>(n));
    for (std::int64_t& type : types_) type = integer("a cell type");
    take_tetrahedra();
  }

  void take_tetrahedra() {
    for (std::size_t c = 0; c < types_.size(); ++c) {
      const std::int64_t type = types_[c];
      const std::int64_t corners = first_[c + 1] - first_[c];
      const bool curved = type == quadratic_tetrahedron || type == lagrange_tetrahedron || type == bezier_tetrahedron;
      if (curved) refuse_curved(path_, static_cast<int>(corners));
      if (type != vtk_tetrahedron) {
        ++raw_.skipped_elements;
        continue;
      }
      if (corners != 4) {
        text_.expect_bytes("4 corners in tetrahedron " + std::to_string(c), std::to_string(corners));
      }
      Tet tet;
      for (int k = 0; k < 4; ++k) {
        const std::int64_t number = corners_[static_cast<std::size_t>(first_[c]) + k];
        if (number < 0 || number >= raw_.mesh.node_count()) {
          text_.expect_bytes("point numbers from 0 to " + std::to_string(raw_.mesh.node_count() - 1) + " in cell " +
                                 std::to_string(c),
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
    text_.check_count(tuples_, "a number of vectors", binary_ ? 3 * vtk_bytes(type) : std::strlen("0 0 0"));
    if (binary_) text_.end_line();
    vectors.resize(static_cast<std::size_t>(tuples_));
    for (Point& v : vectors) {
      for (double& x : v) x = finite("a component", type);
    }
    (on_points_ ? node_name_ : cell_name_) = name;
  }

  // From the next line on, or where the line's end is passed already from here on.
  void skip_values(std::int64_t tuples, std::int64_t components, VtkType type, bool at_line_begin = false) {
    constexpr std::int64_t most_components = 1 << 20;
    if (components < 0 || components > most_components) {
      text_.expect("a number of components", std::to_string(components));
    }
    if (tuples < 0 || tuples > static_cast<std::int64_t>(text_.left())) {
      text_.expect("values that the rest of the file can hold", std::to_string(tuples));
    }
    const std::int64_t count = tuples * components;
    if (binary_) {
      if (!at_line_begin) text_.end_line();
      text_.skip_bytes(type == VtkType::bit ? static_cast<std::uint64_t>(count + 7) / 8
                                            : static_cast<std::uint64_t>(count) * vtk_bytes(type));
      return;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      if (text_.word().empty()) text_.expect("a value", "");
    }
  }

  void read_field() {
    text_.word();  // its name
    const auto arrays = text_.number<std::int64_t>("a number of arrays");
    for (std::int64_t a = 0; a < arrays; ++a) {
      if (vtk_upper(text_.peek()) == "METADATA") {
        text_.word();
        skip_metadata();
      }
      const std::string name = vtk_decoded(text_.word());
      const auto components = text_.number<std::int64_t>("a number of components");
      const auto tuples = text_.number<std::int64_t>("a number of values");
      if (vtk_upper(text_.peek()) == "STRING") {
        skip_strings(components, tuples);
        continue;
      }
      const VtkType type = read_vtk_type(text_);
      const bool real = type == VtkType::float32 || type == VtkType::float64;
      if (components == 3 && real && tuples == tuples_ && wanted()) {
        read_vectors(type, name);
      } else {
        skip_values(tuples, components, type);
      }
    }
  }

  void skip_strings(std::int64_t components, std::int64_t tuples) {
    text_.word();
    text_.end_line();
    if (components < 0 || tuples < 0 || components > 64 || tuples > static_cast<std::int64_t>(text_.left())) {
      text_.expect("a number of strings", std::to_string(tuples));
    }
    for (std::int64_t k = 0; k < components * tuples; ++k) {
      if (text_.left() == 0) text_.expect("a string", "");
      binary_ ? skip_binary_string() : static_cast<void>(text_.line());
    }
  }

  // The upper two bits of a string's first byte give the number of bytes of its length.
  void skip_binary_string() {
    const auto first = text_.raw<std::uint8_t>(false);
    const int more = first >> 6 == 3 ? 0 : first >> 6 == 2 ? 1 : first >> 6 == 1 ? 3 : 7;
    std::uint64_t length = first & 0x3f;
    for (int k = 0; k < more; ++k) length = length << 8 | text_.raw<std::uint8_t>(false);
    text_.skip_bytes(length);
  }

  void skip_metadata() {
    text_.line();
    while (text_.left() > 0 && !text_.line().empty()) {
    }
  }

  void read_attribute(const std::string& keyword, std::string_view word) {
    const std::string name = vtk_decoded(text_.word());
    if (keyword == "LOOKUP_TABLE") {
      // The name behind SCALARS, or a table of four colours per entry.
      const auto size = text_.number<std::int64_t>("the size of a table");
      skip_values(size, 4, binary_ ? VtkType::uint8 : VtkType::float32);
    } else if (keyword == "COLOR_SCALARS") {
      const auto components = text_.number<std::int64_t>("a number of components");
      skip_values(tuples_, components, binary_ ? VtkType::uint8 : VtkType::float32);
    } else if (keyword == "SCALARS") {
      const VtkType type = read_vtk_type(text_);
      std::int64_t components = 1;
      const std::string_view rest = text_.line();
      if (const auto digit = rest.find_first_not_of(" \t"); digit != std::string_view::npos) {
        std::from_chars(rest.data() + digit, rest.data() + rest.size(), components);
      }
      if (vtk_upper(text_.peek()) == "LOOKUP_TABLE") {
        text_.word();
        text_.word();
        if (binary_) text_.end_line();
      }
      skip_values(tuples_, components, type, true);
    } else if (keyword == "VECTORS" || keyword == "NORMALS") {
      const VtkType type = read_vtk_type(text_);
      keyword == "VECTORS" && wanted() ? read_vectors(type, name) : skip_values(tuples_, 3, type);
    } else if (keyword == "TENSORS" || keyword == "TENSORS6") {
      skip_values(tuples_, keyword == "TENSORS" ? 9 : 6, read_vtk_type(text_));
    } else if (keyword == "TEXTURE_COORDINATES") {
      const auto components = text_.number<std::int64_t>("a number of components");
      skip_values(tuples_, components, read_vtk_type(text_));
    } else if (keyword == "GLOBAL_IDS" || keyword == "PEDIGREE_IDS") {
      skip_values(tuples_, 1, read_vtk_type(text_));
    } else {
      text_.expect("an attribute such as SCALARS, VECTORS or FIELD", word);
    }
  }

  RawMesh finish() {
    if (raw_.mesh.nodes.empty()) text_.expect("a section POINTS", "");
    if (types_.empty()) text_.expect("sections CELLS and CELL_TYPES", "");
    if (raw_.mesh.tets.empty()) text_.expect_bytes("tetrahedra (cells of type 10)", "none");
    if (!cell_vectors_.empty()) {
      for (std::size_t c = 0; c < types_.size(); ++c) {
        if (types_[c] == vtk_tetrahedron) raw_.tet_vectors.push_back(cell_vectors_[c]);
      }
    }
    raw_.vectors_name = raw_.node_vectors.empty() ? cell_name_ : node_name_;
    return std::move(raw_);
  }

  const std::string& path_;
  MeshText text_;
  RawMesh raw_;
  bool binary_ = false;
  std::vector<std::int64_t> first_, corners_, types_;
  bool on_points_ = false;
  std::int64_t tuples_ = -1;  // of POINT_DATA or CELL_DATA, -1 before either
  std::vector<Point> cell_vectors_;
  std::string node_name_, cell_name_;
};

}  // namespace

RawMesh read_vtk_text(const std::string& path, std::string_view text) { return VtkReader(path, text).read(); }

}  // namespace newel::fem::detail
