// SPDX-License-Identifier: Apache-2.0
// Which reader a file asks for, and the checks that every mesh passes whatever its format.
#include "apps/fem/mesh_file.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/context.hpp>
#include <newel/core/error.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/fem/mesh_text.hpp"

namespace newel::fem {
namespace {

using detail::RawMesh;

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

RawMesh read_raw(const std::string& path, std::string_view text) {
  if (starts_with(text, "# vtk DataFile")) return detail::read_vtk_text(path, text);
  const std::string_view first = detail::MeshText(path, text, '#').word();
  if (detail::same_keyword(first, "MeshVersionFormatted")) return detail::read_medit_text(path, text);
  if (starts_with(detail::MeshText(path, text).word(), "$")) return detail::read_gmsh_text(path, text);
  throw InputError(
      path +
      ": expected a mesh in the format of Medit (.mesh, ASCII), Gmsh (.msh) or legacy VTK (.vtk), plain or "
      "gzipped, found another format or none. Many can be converted: meshio convert " +
      path + " mesh.vtk");
}

enum class Shape { good, inverted, degenerate };

Shape shape_of(const TetMesh& mesh, Index t) {
  const Tet& tet = mesh.tets[t];
  double longest = 0;
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      longest = std::max(longest, detail::length(detail::minus(mesh.nodes[tet[a]], mesh.nodes[tet[b]])));
    }
  }
  constexpr double flat = 1e-14;
  const double volume = element_volume(mesh, t);
  if (!(std::fabs(volume) > flat * longest * longest * longest)) return Shape::degenerate;
  return volume > 0 ? Shape::good : Shape::inverted;
}

// Swaps corners where all tetrahedra are inverted; refuses what is wrong otherwise. Returns whether it swapped.
bool orient(const std::string& path, RawMesh& raw) {
  TetMesh& mesh = raw.mesh;
  Index inverted = 0, first = -1;
  for (Index t = 0; t < mesh.tet_count(); ++t) {
    const Shape shape = shape_of(mesh, t);
    inverted += shape == Shape::inverted ? 1 : 0;
    if (shape == Shape::degenerate || (first < 0 && shape == Shape::inverted)) first = t;
    if (shape == Shape::degenerate) break;
  }
  if (first < 0) return false;
  if (inverted < mesh.tet_count()) {
    const std::int64_t number = raw.tet_tags.empty() ? std::int64_t{first} + 1 : raw.tet_tags[first];
    char volume[32];
    std::snprintf(volume, sizeof volume, "%.6g", element_volume(mesh, first));
    throw InputError(path + ": tetrahedron " + std::to_string(number) + " has volume " + volume +
                     ", expected a positive one");
  }
  for (Tet& tet : mesh.tets) std::swap(tet[2], tet[3]);
  return true;
}

template <class T>
void keep(std::vector<T>& values, const std::vector<Index>& positions) {
  if (values.empty()) return;
  for (std::size_t i = 0; i < positions.size(); ++i) values[i] = values[positions[i]];
  values.resize(positions.size());
}

// Leaves out nodes that no tetrahedron uses.
std::vector<Index> drop_unused(RawMesh& raw) {
  TetMesh& mesh = raw.mesh;
  std::vector<Index> new_of_old(mesh.nodes.size(), -1);
  for (const Tet& tet : mesh.tets) {
    for (const Index corner : tet) new_of_old[corner] = 0;
  }
  std::vector<Index> positions;
  for (Index i = 0; i < mesh.node_count(); ++i) {
    if (new_of_old[i] < 0) continue;
    new_of_old[i] = static_cast<Index>(positions.size());
    positions.push_back(i);
  }
  if (positions.size() == mesh.nodes.size()) return positions;
  for (Tet& tet : mesh.tets) {
    for (Index& corner : tet) corner = new_of_old[corner];
  }
  keep(mesh.nodes, positions);
  keep(raw.node_tags, positions);
  keep(raw.node_vectors, positions);
  return positions;
}

MeshFile checked(const std::string& path, RawMesh raw) {
  MeshFile file;
  file.format = raw.format;
  file.file_nodes = raw.mesh.node_count();
  file.turned = orient(path, raw);
  file.file_position = drop_unused(raw);
  file.mesh = std::move(raw.mesh);
  file.node_vectors = std::move(raw.node_vectors);
  file.tet_vectors = std::move(raw.tet_vectors);
  file.vectors_name = std::move(raw.vectors_name);
  file.file_tags = std::move(raw.node_tags);
  file.skipped_elements = raw.skipped_elements;
  return file;
}

}  // namespace

MeshFile read_mesh(const std::string& path) {
  const auto source = detail::open_text(path);
  return checked(path, read_raw(path, source.text()));
}

MeshFile parse_mesh(std::string_view bytes, const std::string& name) {
  const auto source = detail::inflate_text(bytes, name);
  return checked(name, read_raw(name, source.text()));
}

}  // namespace newel::fem
