// SPDX-License-Identifier: Apache-2.0
/// Tetrahedral meshes from files of several formats, with the vectors that come along, checked and ready to assemble.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::fem {

/// What `read_mesh` found in a file. Every tetrahedron is positively oriented and every node belongs to one.
struct MeshFile {
  TetMesh mesh;
  std::string format;  ///< "Medit ASCII", "Gmsh 4.1 binary", "legacy VTK 5.1 ASCII", ...

  /// The first field of three components per node, per tetrahedron, in the numbering of `mesh`; empty where the file
  /// has none. Raw: neither normalised nor checked for zeros.
  std::vector<Point> node_vectors;
  std::vector<Point> tet_vectors;
  std::string vectors_name;  ///< of the field as in the file; where both kinds are there, of the one on the nodes

  Index file_nodes = 0;                 ///< nodes that the file lists
  std::vector<Index> file_position;     ///< for each node of `mesh` its place in the file's list, from 0, ascending
  std::vector<std::int64_t> file_tags;  ///< for each node of `mesh` its number in the file, where a format writes one
  std::int64_t skipped_elements = 0;    ///< triangles, hexahedra and others that are not tetrahedra
  bool turned = false;  ///< every volume in the file was negative: two corners of each tetrahedron were swapped

  /// Nodes that belong to no tetrahedron, and were left out of `mesh`.
  Index dropped_nodes() const { return file_nodes - mesh.node_count(); }
  /// The number by which the file calls a node: Gmsh's tag, else its place counted from 1.
  std::int64_t node_number(Index node) const {
    return file_tags.empty() ? std::int64_t{file_position[node]} + 1 : file_tags[node];
  }
};

/// Reads a mesh, plain or gzipped, in the format recognised by its content:
///
/// * Medit ASCII (.mesh), see `read_medit`;
/// * Gmsh 2.2, 4.0 and 4.1 (.msh), ASCII and binary in either byte order; tetrahedra of all volumes are taken. The
/// first
///   $NodeData and the first $ElementData with three components become vectors;
/// * legacy VTK (.vtk) unstructured grids of versions 2.0 to 5.1, ASCII and binary, with `CELLS` as counts and
/// numbers
///   or as OFFSETS and CONNECTIVITY. The first VECTORS, or three-component array of a FIELD, of points and of cells
///   become vectors.
///
/// Lines, triangles and other elements are skipped and counted; 10-node tetrahedra are refused, with advice: dropping
/// their inner nodes would change the geometry silently. Nodes that no tetrahedron uses are dropped and counted.
/// Where all volumes are negative, two corners of every tetrahedron are swapped (`turned`). Single tetrahedra that
/// are inverted or degenerate are refused by their number in the file, counted from 1 among the tetrahedra (Gmsh: the
/// element's own tag). A tetrahedron is degenerate when its volume is below 1e-14 times the cube of its longest edge.
///
/// Throws InputError "FILE:LINE: expected ..., found ..." for text, "FILE: byte N: expected ..., found ..." for what
/// is binary, what FileText says of files that cannot be read, and for an unknown format what `meshio convert`
/// would make of it. Counts are checked against the length of the file before memory is taken.
MeshFile read_mesh(const std::string& path);

/// The same for the bytes of a file in memory; `name` stands in messages.
MeshFile parse_mesh(std::string_view bytes, const std::string& name);

}  // namespace newel::fem
