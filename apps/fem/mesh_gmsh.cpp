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

// Numbers as a file has them.
struct GmshNumbers {
  MeshText text;
  Version version = Version::msh2;
  bool binary = false, swap = false;

  std::int64_t integer(const char* expected) {
    return binary ? text.raw<std::int32_t>(swap) : text.number<std::int64_t>(expected);
  }
  /// 64 bits wide in binary files of version 4.
  std::int64_t size(const char* expected) {
    if (!binary || version == Version::msh2) return integer(expected);
    const auto value = text.raw<std::uint64_t>(swap);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value > most) text.expect_bytes(expected, std::to_string(value));
    return static_cast<std::int64_t>(value);
  }
  /// The same in those of 4.1.
  std::int64_t tag(const char* expected) { return version == Version::msh41 ? size(expected) : integer(expected); }
  std::size_t tag_bytes() const { return version == Version::msh41 ? 8 : 4; }
  double real(const char* expected) {
    return binary ? finite_number(text, text.raw<double>(swap)) : read_coordinate(text, expected);
  }
  std::size_t count(const char* expected, std::size_t text_bytes, std::size_t binary_bytes) {
    const std::int64_t n = size(expected);
    text.check_count(n, expected, binary ? binary_bytes : text_bytes);
    return static_cast<std::size_t>(n);
  }
};

void skip_parameters(GmshNumbers& in, int count) {
  for (int k = 0; k < count; ++k) in.real("a parametric coordinate");
}

void read_node(GmshNumbers& in, int parameters, RawMesh& raw) {
  Point p;
  for (double& x : p) x = in.real("a coordinate");
  skip_parameters(in, parameters);
  raw.mesh.nodes.push_back(p);
}

// Each number stands before its node.
void read_block40(GmshNumbers& in, std::size_t nodes, int parameters, RawMesh& raw) {
  for (std::size_t i = 0; i < nodes; ++i) {
    raw.node_tags.push_back(in.tag("a node number"));
    read_node(in, parameters, raw);
  }
}

// All numbers stand before all nodes.
void read_block41(GmshNumbers& in, std::size_t nodes, int parameters, RawMesh& raw) {
  for (std::size_t i = 0; i < nodes; ++i) raw.node_tags.push_back(in.tag("a node number"));
  for (std::size_t i = 0; i < nodes; ++i) read_node(in, parameters, raw);
}

void read_nodes2(GmshNumbers& in, bool parametric, RawMesh& raw) {
  const std::size_t n = read_count(in.text, "a number of nodes", in.binary ? 28 : std::strlen("1 0 0 0"));
  if (in.binary) in.text.end_line();
  raw.mesh.nodes.resize(n);
  raw.node_tags.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    raw.node_tags[i] = in.integer("a node number");
    for (double& x : raw.mesh.nodes[i]) x = in.real("a coordinate");
    if (!parametric) continue;
    const std::int64_t dimension = in.integer("a dimension");
    in.integer("an entity number");
    skip_parameters(in, parameters_of(dimension));
  }
}

void read_nodes4(GmshNumbers& in, RawMesh& raw) {
  if (in.binary) in.text.end_line();
  const std::size_t blocks = in.count("a number of blocks of nodes", std::strlen("0 1 0 0"), 20);
  const std::size_t n = in.count("a number of nodes", std::strlen("1 0 0 0"), 24 + in.tag_bytes());
  if (in.version == Version::msh41) {
    for (int k = 0; k < 2; ++k) in.size("the least and the greatest node number");
  }
  raw.mesh.nodes.reserve(n);
  raw.node_tags.reserve(n);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::int64_t dimension = in.integer("a dimension"), entity = in.integer("an entity number");
    if (in.version == Version::msh40) std::swap(dimension, entity);
    const std::int64_t parametric = in.integer("0 or 1 for parametric nodes");
    const std::size_t in_block =
        in.count("a number of nodes in a block", std::strlen("1 0 0 0"), 24 + in.tag_bytes());
    if (dimension < 0 || dimension > 3) in.text.expect("a dimension from 0 to 3", std::to_string(dimension));
    in.version == Version::msh40 ? read_block40(in, in_block, parametric != 0 ? parameters_of(dimension) : 0, raw)
                                 : read_block41(in, in_block, parametric != 0 ? static_cast<int>(dimension) : 0, raw);
  }
  if (raw.mesh.nodes.size() != n) {
    in.text.expect_bytes(std::to_string(n) + " nodes in all blocks", std::to_string(raw.mesh.nodes.size()));
  }
}

void read_nodes(GmshNumbers& in, bool parametric, RawMesh& raw) {
  if (in.version == Version::msh2) {
    read_nodes2(in, parametric, raw);
  } else {
    if (parametric) in.text.expect("$Nodes, as in this version", "$ParametricNodes");
    read_nodes4(in, raw);
  }
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
  if (raw.mesh.nodes.size() > most) in.text.expect_bytes("fewer nodes than 32-bit numbers can count", "more");
}

// The tetrahedra of a file, whose corners it names by numbers.
class ElementSection {
 public:
  ElementSection(GmshNumbers& in, const Tags& places, const std::string& path, RawMesh& raw)
      : in_(in), places_(places), path_(path), raw_(raw) {}

  void read() {
    in_.version != Version::msh2 ? read_elements4() : in_.binary ? read_elements2_binary() : read_elements2();
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
    if (raw_.mesh.tets.size() > most) in_.text.expect_bytes("fewer tetrahedra than 32-bit numbers can count", "more");
  }

 private:
  Index place_of_node() {
    const std::int64_t number = in_.tag("a node number");
    const Index place = places_.find(number);
    if (place < 0) {
      const std::string found = std::to_string(number);
      in_.binary ? in_.text.expect_bytes("the number of a node", found)
                 : in_.text.expect("the number of a node", found);
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
    if (!in_.binary) {
      in_.text.line();
    } else {
      in_.text.skip_bytes(in_.tag_bytes() * static_cast<std::uint64_t>(node_count(in_.text, type)));
    }
  }

  void read_elements2() {
    const std::size_t n = read_count(in_.text, "a number of elements", std::strlen("1 15 0 1"));
    for (std::size_t i = 0; i < n; ++i) {
      const auto tag = in_.text.number<std::int64_t>("an element number");
      const auto type = in_.text.number<int>("an element type");
      const auto tags = in_.text.number<int>("a number of tags");
      if (tags < 0) in_.text.expect("a number of tags", std::to_string(tags));
      for (int k = 0; k < tags; ++k) in_.text.number<std::int64_t>("a tag");
      read_element(tag, type);
    }
  }

  void read_elements2_binary() {
    const std::size_t n = read_count(in_.text, "a number of elements", 4);
    in_.text.end_line();
    for (std::size_t done = 0; done < n;) {
      const auto type = in_.text.raw<std::int32_t>(in_.swap);
      const auto in_block = in_.text.raw<std::int32_t>(in_.swap);
      const auto tags = in_.text.raw<std::int32_t>(in_.swap);
      if (in_block < 1 || static_cast<std::size_t>(in_block) > n - done) {
        in_.text.expect_bytes("1 to " + std::to_string(n - done) + " elements in a block", std::to_string(in_block));
      }
      if (tags < 0) in_.text.expect_bytes("a number of tags", std::to_string(tags));
      for (std::int32_t k = 0; k < in_block; ++k) {
        const auto tag = in_.text.raw<std::int32_t>(in_.swap);
        in_.text.skip_bytes(4 * static_cast<std::uint64_t>(tags));
        read_element(tag, type);
      }
      done += static_cast<std::size_t>(in_block);
    }
  }

  void read_elements4() {
    if (in_.binary) in_.text.end_line();
    const std::size_t blocks = in_.count("a number of blocks of elements", std::strlen("0 1 15 0"), 20);
    const std::size_t n = in_.count("a number of elements", std::strlen("1 1"), 2 * in_.tag_bytes());
    if (in_.version == Version::msh41) {
      for (int k = 0; k < 2; ++k) in_.size("the least and the greatest element number");
    }
    std::size_t done = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      for (int k = 0; k < 2; ++k) in_.integer("a dimension and an entity number");
      const std::int64_t type = in_.integer("an element type");
      const std::size_t in_block =
          in_.count("a number of elements in a block", std::strlen("1 1"), 2 * in_.tag_bytes());
      for (std::size_t i = 0; i < in_block; ++i) read_element(in_.tag("an element number"), type);
      done += in_block;
    }
    if (done != n) in_.text.expect_bytes(std::to_string(n) + " elements in all blocks", std::to_string(done));
  }

  GmshNumbers& in_;
  const Tags& places_;
  const std::string& path_;
  RawMesh& raw_;
};

// A section of data: names, times, integers, of which the second is the number of components and the third that of
// entries.
void read_data(GmshNumbers& in, Vectors& vectors) {
  const std::size_t strings = read_count(in.text, "a number of names", 1);
  in.text.end_line();
  std::string name;
  for (std::size_t k = 0; k < strings; ++k) {
    std::string_view line = in.text.line();
    if (k == 0 && line.size() >= 2 && line.front() == '"') name = std::string(line.substr(1, line.size() - 2));
  }
  const std::size_t reals = read_count(in.text, "a number of real tags", 1);
  for (std::size_t k = 0; k < reals; ++k) in.text.real("a real tag");
  const std::size_t integers = read_count(in.text, "a number of integer tags", 1);
  std::int64_t components = 0, entries = 0;
  for (std::size_t k = 0; k < integers; ++k) {
    const auto value = in.text.number<std::int64_t>("an integer tag");
    components = k == 1 ? value : components;
    entries = k == 2 ? value : entries;
  }
  if (components != 3 || vectors.found) {
    if (!in.binary) return;  // what follows is passed with the section's end
    if (components < 0 || components > 9) in.text.expect("1 to 9 components", std::to_string(components));
    in.text.end_line();
    in.text.check_count(entries, "a number of entries", 4 + 8 * static_cast<std::size_t>(components));
    in.text.skip_bytes(static_cast<std::uint64_t>(entries) * (4 + 8 * static_cast<std::uint64_t>(components)));
    return;
  }
  if (in.binary) in.text.end_line();
  in.text.check_count(entries, "a number of entries", in.binary ? 28 : std::strlen("1 0 0 0"));
  vectors.found = true;
  vectors.name = name;
  vectors.tags.resize(static_cast<std::size_t>(entries));
  vectors.values.resize(static_cast<std::size_t>(entries));
  for (std::size_t k = 0; k < vectors.tags.size(); ++k) {
    vectors.tags[k] = in.integer("the number of a node or an element");
    for (double& x : vectors.values[k]) x = in.real("a component");
  }
}

class GmshReader {
 public:
  GmshReader(const std::string& path, std::string_view text) : path_(path), in_{MeshText(path, text)} {}

  RawMesh read() {
    read_format();
    for (auto word = in_.text.word(); !word.empty(); word = in_.text.word()) {
      if (word[0] != '$') in_.text.expect("a section, $...", word);
      const std::string name(word.substr(1));
      if (name == "Nodes" || name == "ParametricNodes") {
        if (places_ != nullptr) in_.text.expect("one section $Nodes", "another");
        read_nodes(name == "ParametricNodes");
      } else if (name == "Elements") {
        if (places_ == nullptr) in_.text.expect("$Nodes before $Elements", word);
        if (elements_) in_.text.expect("one section $Elements", "another");
        ElementSection(in_, *places_, path_, raw_).read();
        elements_ = true;
      } else if (name == "NodeData") {
        read_data(in_, node_vectors_);
      } else if (name == "ElementData") {
        read_data(in_, tet_vectors_);
      }
      in_.text.skip_past("$End" + name);
    }
    return finish();
  }

 private:
  void read_format() {
    if (const auto word = in_.text.word(); word != "$MeshFormat") in_.text.expect("$MeshFormat", word);
    const std::string_view version = in_.text.word();
    const bool msh40 = version == "4" || version == "4.0",
               msh2 = version == "2.2" || version == "2.1" || version == "2";
    if (!msh40 && !msh2 && version != "4.1") {
      in_.text.expect("version 2.2, 4.0 or 4.1 (gmsh -save -format msh41 converts others)", version);
    }
    in_.version = msh2 ? Version::msh2 : msh40 ? Version::msh40 : Version::msh41;
    const auto kind = in_.text.number<int>("0 for text or 1 for binary");
    if (kind != 0 && kind != 1) in_.text.expect("0 for text or 1 for binary", std::to_string(kind));
    in_.binary = kind == 1;
    const auto size = in_.text.number<int>("the data size 8");
    if (size != 8) in_.text.expect("the data size 8", std::to_string(size));
    if (in_.binary) {
      in_.text.end_line();
      const auto one = in_.text.raw<std::int32_t>(false);
      in_.swap = one != 1;
      if (in_.swap && turned(one) != 1)
        in_.text.expect_bytes("the number 1 in either byte order", std::to_string(one));
    }
    in_.text.skip_past("$EndMeshFormat");
    raw_.format = std::string("Gmsh ") + (msh2 ? "2.2" : msh40 ? "4.0" : "4.1") + (in_.binary ? " binary" : " ASCII");
  }

  void read_nodes(bool parametric) {
    detail::read_nodes(in_, parametric, raw_);
    places_ = std::make_unique<Tags>(raw_.node_tags);
    if (const std::int64_t tag = places_->repeated(); tag != 0) {
      in_.text.expect_bytes("node numbers that differ", "the number " + std::to_string(tag) + " twice");
    }
  }

  RawMesh finish() {
    if (places_ == nullptr) in_.text.expect("a section $Nodes", "");
    if (raw_.mesh.tets.empty()) in_.text.expect("tetrahedra in a section $Elements", "");
    raw_.node_vectors = node_vectors_.placed(raw_.node_tags);
    raw_.tet_vectors = tet_vectors_.placed(raw_.tet_tags);
    raw_.vectors_name = node_vectors_.found ? node_vectors_.name : tet_vectors_.name;
    return std::move(raw_);
  }

  const std::string& path_;
  GmshNumbers in_;
  RawMesh raw_;
  std::unique_ptr<Tags> places_;
  Vectors node_vectors_, tet_vectors_;
  bool elements_ = false;
};

}  // namespace

RawMesh read_gmsh_text(const std::string& path, std::string_view text) { return GmshReader(path, text).read(); }

}  // namespace newel::fem::detail
