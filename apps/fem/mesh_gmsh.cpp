// SPDX-License-Identifier: Apache-2.0
// Gmsh's MSH format, versions 2.2, 4.0 and 4.1, text and binary: sections, of which nodes, elements and vectors are
// kept. What the numbers mean: "Gmsh reference manual", sections "MSH file format" and "Legacy formats".
#include <limits>
#include <memory>

#include <newel/core/error.hpp>

#include "apps/fem/gmsh_tags.hpp"
#include "apps/fem/mesh_text.hpp"

namespace newel::fem::detail {
namespace {

// Nodes of Gmsh's element types, 0 for the unknown ones.
constexpr int nodes_of_type[] = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                 8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
constexpr int tetrahedron = 4;

enum class Version { msh2, msh40, msh41 };

// How many parameters stand behind a node on an entity of this dimension, in versions 2 and 4.0: those of a point on
// a curve or a surface.
int parameters_of(std::int64_t dimension) {
  return dimension == 1 || dimension == 2 ? static_cast<int>(dimension) : 0;
}

bool is_curved_tetrahedron(int type) { return type == 11 || type == 29 || type == 30 || type == 31; }

int node_count(const MeshText& text, std::int64_t type) {
  constexpr auto known = static_cast<std::int64_t>(std::size(nodes_of_type));
  if (type < 1 || type >= known || nodes_of_type[type] == 0) {
    text.expect_bytes("an element type from 1 to " + std::to_string(known - 1), std::to_string(type));
  }
  return nodes_of_type[type];
}

class GmshReader {
 public:
  GmshReader(const std::string& path, std::string_view text) : path_(path), text_(path, text) {}

  RawMesh read() {
    read_format();
    for (auto word = text_.word(); !word.empty(); word = text_.word()) {
      if (word[0] != '$') text_.expect("a section, $...", word);
      const std::string name(word.substr(1));
      if (name == "Nodes" || name == "ParametricNodes") {
        if (places_ != nullptr) text_.expect("one section $Nodes", "another");
        read_nodes(name == "ParametricNodes");
      } else if (name == "Elements") {
        if (places_ == nullptr) text_.expect("$Nodes before $Elements", word);
        if (elements_) text_.expect("one section $Elements", "another");
        read_elements();
        elements_ = true;
      } else if (name == "NodeData") {
        read_data(node_vectors_);
      } else if (name == "ElementData") {
        read_data(tet_vectors_);
      }
      text_.skip_past("$End" + name);
    }
    return finish();
  }

 private:
  void read_format() {
    if (const auto word = text_.word(); word != "$MeshFormat") text_.expect("$MeshFormat", word);
    const std::string_view version = text_.word();
    const bool msh40 = version == "4" || version == "4.0",
               msh2 = version == "2.2" || version == "2.1" || version == "2";
    if (!msh40 && !msh2 && version != "4.1") {
      text_.expect("version 2.2, 4.0 or 4.1 (gmsh -save -format msh41 converts others)", version);
    }
    version_ = msh2 ? Version::msh2 : msh40 ? Version::msh40 : Version::msh41;
    const auto kind = text_.number<int>("0 for text or 1 for binary");
    if (kind != 0 && kind != 1) text_.expect("0 for text or 1 for binary", std::to_string(kind));
    binary_ = kind == 1;
    const auto size = text_.number<int>("the data size 8");
    if (size != 8) text_.expect("the data size 8", std::to_string(size));
    if (binary_) {
      text_.end_line();
      const auto one = text_.raw<std::int32_t>(false);
      swap_ = one != 1;
      if (swap_ && turned(one) != 1) text_.expect_bytes("the number 1 in either byte order", std::to_string(one));
    }
    text_.skip_past("$EndMeshFormat");
    raw_.format = std::string("Gmsh ") + (msh2 ? "2.2" : msh40 ? "4.0" : "4.1") + (binary_ ? " binary" : " ASCII");
  }

  // Numbers as the file has them. `size` is 64 bits wide in binary files of version 4, `tag` in those of 4.1.
  std::int64_t integer(const char* expected) {
    return binary_ ? text_.raw<std::int32_t>(swap_) : text_.number<std::int64_t>(expected);
  }
  std::int64_t size(const char* expected) {
    if (!binary_ || version_ == Version::msh2) return integer(expected);
    const auto value = text_.raw<std::uint64_t>(swap_);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value > most) text_.expect_bytes(expected, std::to_string(value));
    return static_cast<std::int64_t>(value);
  }
  std::int64_t tag(const char* expected) { return version_ == Version::msh41 ? size(expected) : integer(expected); }
  std::size_t tag_bytes() const { return version_ == Version::msh41 ? 8 : 4; }
  double real(const char* expected) { return binary_ ? text_.raw_coordinate(swap_) : text_.coordinate(expected); }
  std::size_t count(const char* expected, std::size_t text_bytes, std::size_t binary_bytes) {
    const std::int64_t n = size(expected);
    text_.check_count(n, expected, binary_ ? binary_bytes : text_bytes);
    return static_cast<std::size_t>(n);
  }

  void read_nodes(bool parametric) {
    if (version_ == Version::msh2) {
      read_nodes2(parametric);
    } else {
      if (parametric) text_.expect("$Nodes, as in this version", "$ParametricNodes");
      read_nodes4();
    }
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
    if (raw_.mesh.nodes.size() > most) text_.expect_bytes("fewer nodes than 32-bit numbers can count", "more");
    places_ = std::make_unique<Tags>(raw_.node_tags);
    if (const std::int64_t tag = places_->repeated(); tag != 0) {
      text_.expect_bytes("node numbers that differ", "the number " + std::to_string(tag) + " twice");
    }
  }

  void read_nodes2(bool parametric) {
    const std::size_t n = text_.count("a number of nodes", binary_ ? 28 : std::strlen("1 0 0 0"));
    if (binary_) text_.end_line();
    raw_.mesh.nodes.resize(n);
    raw_.node_tags.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      raw_.node_tags[i] = integer("a node number");
      for (double& x : raw_.mesh.nodes[i]) x = real("a coordinate");
      if (!parametric) continue;
      const std::int64_t dimension = integer("a dimension");
      integer("an entity number");
      skip_parameters(parameters_of(dimension));
    }
  }

  void skip_parameters(int count) {
    for (int k = 0; k < count; ++k) real("a parametric coordinate");
  }

  void read_nodes4() {
    if (binary_) text_.end_line();
    const std::size_t blocks = count("a number of blocks of nodes", std::strlen("0 1 0 0"), 20);
    const std::size_t n = count("a number of nodes", std::strlen("1 0 0 0"), 24 + tag_bytes());
    if (version_ == Version::msh41) {
      for (int k = 0; k < 2; ++k) size("the least and the greatest node number");
    }
    raw_.mesh.nodes.reserve(n);
    raw_.node_tags.reserve(n);
    for (std::size_t b = 0; b < blocks; ++b) {
      std::int64_t dimension = integer("a dimension"), entity = integer("an entity number");
      if (version_ == Version::msh40) std::swap(dimension, entity);
      const std::int64_t parametric = integer("0 or 1 for parametric nodes");
      const std::size_t in_block = count("a number of nodes in a block", std::strlen("1 0 0 0"), 24 + tag_bytes());
      if (dimension < 0 || dimension > 3) text_.expect("a dimension from 0 to 3", std::to_string(dimension));
      version_ == Version::msh40 ? read_block40(in_block, parametric != 0 ? parameters_of(dimension) : 0)
                                 : read_block41(in_block, parametric != 0 ? static_cast<int>(dimension) : 0);
    }
    if (raw_.mesh.nodes.size() != n) {
      text_.expect_bytes(std::to_string(n) + " nodes in all blocks", std::to_string(raw_.mesh.nodes.size()));
    }
  }

  // Each number stands before its node.
  void read_block40(std::size_t nodes, int parameters) {
    for (std::size_t i = 0; i < nodes; ++i) {
      raw_.node_tags.push_back(tag("a node number"));
      read_node(parameters);
    }
  }

  // All numbers stand before all nodes.
  void read_block41(std::size_t nodes, int parameters) {
    for (std::size_t i = 0; i < nodes; ++i) raw_.node_tags.push_back(tag("a node number"));
    for (std::size_t i = 0; i < nodes; ++i) read_node(parameters);
  }

  void read_node(int parameters) {
    Point p;
    for (double& x : p) x = real("a coordinate");
    skip_parameters(parameters);
    raw_.mesh.nodes.push_back(p);
  }

  Index place_of_node() {
    const std::int64_t number = tag("a node number");
    const Index place = places_->find(number);
    if (place < 0) {
      const std::string found = std::to_string(number);
      binary_ ? text_.expect_bytes("the number of a node", found) : text_.expect("the number of a node", found);
    }
    return place;
  }

  // One element behind its number and tags.
  void read_element(std::int64_t tag, std::int64_t type) {
    if (is_curved_tetrahedron(static_cast<int>(type))) refuse_curved(path_, nodes_of_type[type]);
    if (type == tetrahedron) {
      Tet tet;
      for (Index& corner : tet) corner = place_of_node();
      raw_.mesh.tets.push_back(tet);
      raw_.tet_tags.push_back(tag);
      return;
    }
    ++raw_.skipped_elements;
    if (!binary_) {
      text_.line();
    } else {
      text_.skip_bytes(tag_bytes() * static_cast<std::uint64_t>(node_count(text_, type)));
    }
  }

  void read_elements() {
    version_ != Version::msh2 ? read_elements4() : binary_ ? read_elements2_binary() : read_elements2();
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
    if (raw_.mesh.tets.size() > most) text_.expect_bytes("fewer tetrahedra than 32-bit numbers can count", "more");
  }

  void read_elements2() {
    const std::size_t n = text_.count("a number of elements", std::strlen("1 15 0 1"));
    for (std::size_t i = 0; i < n; ++i) {
      const auto tag = text_.number<std::int64_t>("an element number");
      const auto type = text_.number<int>("an element type");
      const auto tags = text_.number<int>("a number of tags");
      if (tags < 0) text_.expect("a number of tags", std::to_string(tags));
      for (int k = 0; k < tags; ++k) text_.number<std::int64_t>("a tag");
      read_element(tag, type);
    }
  }

  void read_elements2_binary() {
    const std::size_t n = text_.count("a number of elements", 4);
    text_.end_line();
    for (std::size_t done = 0; done < n;) {
      const auto type = text_.raw<std::int32_t>(swap_);
      const auto in_block = text_.raw<std::int32_t>(swap_);
      const auto tags = text_.raw<std::int32_t>(swap_);
      if (in_block < 1 || static_cast<std::size_t>(in_block) > n - done) {
        text_.expect_bytes("1 to " + std::to_string(n - done) + " elements in a block", std::to_string(in_block));
      }
      if (tags < 0) text_.expect_bytes("a number of tags", std::to_string(tags));
      for (std::int32_t k = 0; k < in_block; ++k) {
        const auto tag = text_.raw<std::int32_t>(swap_);
        text_.skip_bytes(4 * static_cast<std::uint64_t>(tags));
        read_element(tag, type);
      }
      done += static_cast<std::size_t>(in_block);
    }
  }

  void read_elements4() {
    if (binary_) text_.end_line();
    const std::size_t blocks = count("a number of blocks of elements", std::strlen("0 1 15 0"), 20);
    const std::size_t n = count("a number of elements", std::strlen("1 1"), 2 * tag_bytes());
    if (version_ == Version::msh41) {
      for (int k = 0; k < 2; ++k) size("the least and the greatest element number");
    }
    std::size_t done = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      for (int k = 0; k < 2; ++k) integer("a dimension and an entity number");
      const std::int64_t type = integer("an element type");
      const std::size_t in_block = count("a number of elements in a block", std::strlen("1 1"), 2 * tag_bytes());
      for (std::size_t i = 0; i < in_block; ++i) read_element(tag("an element number"), type);
      done += in_block;
    }
    if (done != n) text_.expect_bytes(std::to_string(n) + " elements in all blocks", std::to_string(done));
  }

  // A section of data: names, times, integers, of which the second is the number of components and the third that of
  // entries.
  void read_data(Vectors& vectors) {
    const std::size_t strings = text_.count("a number of names", 1);
    text_.end_line();
    std::string name;
    for (std::size_t k = 0; k < strings; ++k) {
      std::string_view line = text_.line();
      if (k == 0 && line.size() >= 2 && line.front() == '"') name = std::string(line.substr(1, line.size() - 2));
    }
    const std::size_t reals = text_.count("a number of real tags", 1);
    for (std::size_t k = 0; k < reals; ++k) text_.real("a real tag");
    const std::size_t integers = text_.count("a number of integer tags", 1);
    std::int64_t components = 0, entries = 0;
    for (std::size_t k = 0; k < integers; ++k) {
      const auto value = text_.number<std::int64_t>("an integer tag");
      components = k == 1 ? value : components;
      entries = k == 2 ? value : entries;
    }
    if (components != 3 || vectors.found) {
      if (!binary_) return;  // what follows is passed with the section's end
      if (components < 0 || components > 9) text_.expect("1 to 9 components", std::to_string(components));
      text_.end_line();
      text_.check_count(entries, "a number of entries", 4 + 8 * static_cast<std::size_t>(components));
      text_.skip_bytes(static_cast<std::uint64_t>(entries) * (4 + 8 * static_cast<std::uint64_t>(components)));
      return;
    }
    if (binary_) text_.end_line();
    text_.check_count(entries, "a number of entries", binary_ ? 28 : std::strlen("1 0 0 0"));
    vectors.found = true;
    vectors.name = name;
    vectors.tags.resize(static_cast<std::size_t>(entries));
    vectors.values.resize(static_cast<std::size_t>(entries));
    for (std::size_t k = 0; k < vectors.tags.size(); ++k) {
      vectors.tags[k] = integer("the number of a node or an element");
      for (double& x : vectors.values[k]) x = real("a component");
    }
  }

  RawMesh finish() {
    if (places_ == nullptr) text_.expect("a section $Nodes", "");
    if (raw_.mesh.tets.empty()) text_.expect("tetrahedra in a section $Elements", "");
    raw_.node_vectors = node_vectors_.placed(raw_.node_tags);
    raw_.tet_vectors = tet_vectors_.placed(raw_.tet_tags);
    raw_.vectors_name = node_vectors_.found ? node_vectors_.name : tet_vectors_.name;
    return std::move(raw_);
  }

  const std::string& path_;
  MeshText text_;
  RawMesh raw_;
  std::unique_ptr<Tags> places_;
  Vectors node_vectors_, tet_vectors_;
  Version version_ = Version::msh2;
  bool binary_ = false, swap_ = false, elements_ = false;
};

}  // namespace

RawMesh read_gmsh_text(const std::string& path, std::string_view text) { return GmshReader(path, text).read(); }

}  // namespace newel::fem::detail
