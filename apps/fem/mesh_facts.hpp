// SPDX-License-Identifier: Apache-2.0
/// What a user should know of a mesh before trusting a run on it: size, pieces, edges, angles, and its likely unit.
#pragma once

#include <string_view>
#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::fem {

struct MeshFacts {
  Index nodes = 0;
  Index tets = 0;
  std::vector<Index> component_nodes;                ///< nodes of each connected piece, largest first
  Point low{}, high{};                               ///< corners of the box around the nodes
  double edge_min = 0, edge_mean = 0, edge_max = 0;  ///< every edge counted once
  double volume = 0, tet_volume_min = 0, tet_volume_max = 0;
  double dihedral_min = 0, dihedral_max = 0;  ///< degrees; 70.5 in a regular tetrahedron

  /// The longest side of the box.
  double extent() const;
};

/// Needs every tetrahedron positively oriented. About the cost of assembling a mass matrix.
MeshFacts mesh_facts(const Context<Space::host>& ctx, const TetMesh& mesh);
/// The same with node_tets of the mesh at hand.
MeshFacts mesh_facts(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around);

/// For each node the number of its connected piece; pieces are numbered by their lowest node. Nodes without
/// tetrahedra are pieces of their own.
std::vector<Index> component_of_node(const Context<Space::host>& ctx, const TetMesh& mesh);

enum class MeshUnit { mm, cm, m };

/// "mm", "cm" or "m".
std::string_view name_of(MeshUnit unit);
/// How many metres a unit is.
double metres_of(MeshUnit unit);

enum class BodyKind {
  heart,  ///< hearts, ventricles and slabs of tissue, from a rat's to a whale calf's: 5 mm to 20 cm
  part,   ///< mechanical parts
};

/// Three lengths of a body, in the unit of its coordinates.
struct BodySize {
  double extent = 0;  ///< the longest side of its box
  double wall = 0;    ///< 2 volume / surface: how thick a thin body is
  double edge = 0;    ///< the mean length of an edge
};

/// Needs every tetrahedron positively oriented. Throws InputError for a face that three tetrahedra or more share.
BodySize body_size(const Context<Space::host>& ctx, const TetMesh& mesh);

/// The likely unit of the coordinates of a body; a guess, which a program should report.
/// Hearts: the unit in which extent, wall and edges together are nearest to those of a heart of middle size, 45, 5
/// and 0.8 mm, by the sum of their squared logarithmic distances. A mouse's heart in millimetres is taken for
/// centimetres: it has the shape, and may have the edges, of a human's.
/// Parts: by the extent alone. Up to 5 metres, beyond millimetres; centimetres are never guessed.
MeshUnit guess_unit(const BodySize& size, BodyKind kind);

}  // namespace newel::fem
