// SPDX-License-Identifier: Apache-2.0
// Directions from files and from nodes.
#include "apps/heart/anatomy/fibers.hpp"

#include <algorithm>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/fem/mesh_text.hpp"

namespace newel::fem {
namespace {

std::vector<Point> normalised_all(std::vector<Point> vectors) {
  for (Point& v : vectors) v = detail::normalised(v);
  return vectors;
}

// Of the nodes or tetrahedra that `vectors` belongs to, those that are kept.
std::vector<Point> selected(const std::vector<Point>& vectors, const std::vector<Index>& positions) {
  std::vector<Point> result(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) result[i] = vectors[positions[i]];
  return result;
}

std::vector<Point> read_columns(const std::string& path, std::string_view text) {
  detail::MeshText words(path, text, '#');
  std::vector<Point> vectors;
  while (!words.peek().empty()) {
    Point v;
    for (double& x : v) x = detail::read_coordinate(words, "a component");
    const std::string_view behind = words.line();
    const std::size_t rest = behind.find_first_not_of(" \t");
    if (rest != std::string_view::npos && behind[rest] != '#') {
      words.expect_before_line("three numbers a line", behind.substr(rest));
    }
    vectors.push_back(v);
  }
  return vectors;
}

// The vectors of `path` fall on nodes or tetrahedra of `file` by their number.
std::vector<Point> by_count(const Context<Space::host>& ctx, const std::string& path, const MeshFile& file,
                            const std::vector<Point>& vectors) {
  if (vectors.size() == static_cast<std::size_t>(file.file_nodes)) {
    return fibers_from_nodes(ctx, file.mesh, selected(vectors, file.file_position));
  }
  if (vectors.size() == file.mesh.tets.size()) return normalised_all(vectors);
  throw InputError(path + ": expected a vector for each of " + std::to_string(file.file_nodes) + " nodes or " +
                   std::to_string(file.mesh.tets.size()) + " tetrahedra, found " + std::to_string(vectors.size()));
}

// Whether the content is that of a mesh file, not of plain columns.
bool is_mesh(std::string_view text) {
  const auto starts = [&](std::string_view mark) { return text.substr(0, mark.size()) == mark; };
  return starts("# vtk DataFile") || starts("$") || starts("MeshVersionFormatted");
}

}  // namespace

std::vector<Point> fibers_from_nodes(const Context<Space::host>& ctx, const TetMesh& mesh,
                                     const std::vector<Point>& node_vectors) {
  if (node_vectors.size() != mesh.nodes.size()) {
    throw InputError("expected a vector for each of " + std::to_string(mesh.nodes.size()) + " nodes, found " +
                     std::to_string(node_vectors.size()));
  }
  std::vector<Point> fibers(mesh.tets.size());
  parallel_for(ctx, mesh.tet_count(), [&](Index t) {
    Point sum{};
    for (const Index corner : mesh.tets[t]) {
      const Point v = detail::normalised(node_vectors[corner]);
      sum = detail::plus(sum, detail::dot(sum, v) < 0 ? -1 : 1, v);
    }
    fibers[t] = detail::normalised(sum);
  });
  return fibers;
}

std::vector<Point> fibers_from_mesh_file(const Context<Space::host>& ctx, const MeshFile& file) {
  return fibers_from_vectors(ctx, file.mesh, file.node_vectors, file.tet_vectors);
}

std::vector<Point> fibers_from_vectors(const Context<Space::host>& ctx, const TetMesh& mesh,
                                       const std::vector<Point>& node_vectors,
                                       const std::vector<Point>& tet_vectors) {
  if (!tet_vectors.empty()) return normalised_all(tet_vectors);
  if (!node_vectors.empty()) return fibers_from_nodes(ctx, mesh, node_vectors);
  return {};
}

std::vector<Point> read_fibers(const Context<Space::host>& ctx, const std::string& path, const MeshFile& file) {
  std::vector<Point> columns;
  {
    const auto source = detail::open_text(path);
    if (!is_mesh(source.text())) columns = read_columns(path, source.text());
    if (!columns.empty()) return by_count(ctx, path, file, columns);
    if (!is_mesh(source.text())) throw InputError(path + ": expected three numbers a line, found none");
  }
  const MeshFile other = read_mesh(path);
  if (other.mesh.tets.size() != file.mesh.tets.size() || other.file_nodes != file.file_nodes) {
    throw InputError(path + ": expected the mesh's own " + std::to_string(file.file_nodes) + " nodes and " +
                     std::to_string(file.mesh.tets.size()) + " tetrahedra, found " +
                     std::to_string(other.file_nodes) + " and " + std::to_string(other.mesh.tets.size()));
  }
  const std::vector<Point> fibers = fibers_from_mesh_file(ctx, other);
  if (fibers.empty()) throw InputError(path + ": expected vectors on nodes or tetrahedra, found none");
  return fibers;
}

std::vector<Point> refine_fibers(const std::vector<Point>& fibers) {
  std::vector<Point> fine(8 * fibers.size());
  for (std::size_t t = 0; t < fine.size(); ++t) fine[t] = fibers[t / 8];
  return fine;
}

Index count_zero(const std::vector<Point>& fibers) {
  return static_cast<Index>(std::count(fibers.begin(), fibers.end(), Point{}));
}

}  // namespace newel::fem
