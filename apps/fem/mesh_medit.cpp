// SPDX-License-Identifier: Apache-2.0
// The Medit ASCII reader: a stream of words, of which two sections are kept. Programs write the keywords in any case.
#include "apps/fem/mesh_text.hpp"

namespace newel::fem {
namespace detail {
namespace {

bool starts_keyword(std::string_view word) {
  return !word.empty() && ((word[0] >= 'A' && word[0] <= 'Z') || (word[0] >= 'a' && word[0] <= 'z'));
}

void read_vertices(MeshText& words, TetMesh& mesh) {
  mesh.nodes.resize(read_count(words, "a number of vertices", std::strlen("0 0 0 0")));
  for (Point& point : mesh.nodes) {
    for (double& x : point) x = read_coordinate(words);
    words.number<std::int64_t>("a reference number");
  }
}

void read_tetrahedra(MeshText& words, TetMesh& mesh) {
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

// Elements by the keyword of their section, which gives their number first.
bool names_elements(std::string_view word) {
  for (const std::string_view kind :
       {"Edges", "Triangles", "Quadrilaterals", "Hexahedra", "Hexaedra", "Prisms", "Pentahedra", "Pyramids"}) {
    if (same_keyword(word, kind)) return true;
  }
  return false;
}

}  // namespace

RawMesh read_medit_text(const std::string& path, std::string_view text) {
  MeshText words(path, text, '#');
  if (const auto word = words.word(); !same_keyword(word, "MeshVersionFormatted"))
    words.expect("MeshVersionFormatted", word);
  words.number<int>("a format version");

  RawMesh raw;
  raw.format = "Medit ASCII";
  TetMesh& mesh = raw.mesh;
  bool dimension = false;
  for (auto word = words.word(); !word.empty() && !same_keyword(word, "End"); word = words.word()) {
    if (!starts_keyword(word)) words.expect("a keyword", word);
    if (same_keyword(word, "Dimension")) {
      const auto value = words.number<int>("the dimension 3");
      if (value != 3) words.expect("the dimension 3", std::to_string(value));
      dimension = true;
    } else if (same_keyword(word, "Vertices")) {
      if (!dimension) words.expect("Dimension before Vertices", word);
      if (!mesh.nodes.empty()) words.expect("one section of Vertices", "another");
      read_vertices(words, mesh);
    } else if (same_keyword(word, "Tetrahedra")) {
      if (mesh.nodes.empty()) words.expect("Vertices before Tetrahedra", word);
      if (!mesh.tets.empty()) words.expect("one section of Tetrahedra", "another");
      read_tetrahedra(words, mesh);
    } else {
      if (same_keyword(word, "TetrahedraP2")) refuse_curved(path, 10);
      if (names_elements(word)) {
        raw.skipped_elements += static_cast<std::int64_t>(read_count(words, "a number of elements", 1));
      }
      for (auto skipped = words.peek(); !skipped.empty() && !starts_keyword(skipped); skipped = words.peek()) {
        words.word();
      }
    }
  }
  if (mesh.nodes.empty()) words.expect("a section of Vertices", "");
  if (mesh.tets.empty()) words.expect("a section of Tetrahedra", "");
  return raw;
}

}  // namespace detail

TetMesh read_medit(const std::string& path) {
  const auto source = detail::open_text(path);
  return detail::read_medit_text(path, source.text()).mesh;
}

}  // namespace newel::fem
