// SPDX-License-Identifier: Apache-2.0
/// Tetrahedral meshes: a box generator, uniform refinement, checks, the Medit reader, and the geometry of P1
/// elements.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <newel/core/array.hpp>

namespace newel::fem {

using Point = std::array<double, 3>;
using Tet = std::array<Index, 4>;

/// Nodes and positively oriented tetrahedra: (b-a) x (c-a) . (d-a) > 0 for the corners a, b, c, d.
struct TetMesh {
  std::vector<Point> nodes;
  std::vector<Tet> tets;  ///< 0-based node numbers

  Index node_count() const { return static_cast<Index>(nodes.size()); }
  Index tet_count() const { return static_cast<Index>(tets.size()); }
};

struct BoxOptions {
  /// Interior nodes move by up to this fraction of the spacing along each axis; 0 <= jitter < 1/6.
  /// The bound keeps every volume positive: a Kuhn tetrahedron of unit spacing is nowhere thinner than 1/sqrt(3),
  /// and two corners come closer by at most 2 sqrt(3) jitter.
  double jitter = 0;
  /// Numbers the nodes like a mesh generator does: near in space is mostly near in number, but no grid line
  /// survives. Blocks of 8 x 8 x 8 nodes follow each other along a Morton curve, shuffled within. Off: x runs
  /// fastest, then y, then z.
  bool renumber = false;
  std::uint64_t seed = 1;  ///< of jitter and shuffle; the same seed gives the same mesh for any number of threads
};

/// A box [0, lx] x [0, ly] x [0, lz] of nx x ny x nz nodes, every cell cut into six tetrahedra around its main
/// diagonal (Kuhn's subdivision, which is conforming). Nodes on the surface stay on it.
/// Throws InputError for fewer than 2 nodes along an axis, lengths that are not positive, a jitter out of range, and
/// counts that 32 bits cannot number; OutOfMemory for a mesh that the host cannot hold.
TetMesh make_beam(const Context<Space::host>& ctx, Index nx, Index ny, Index nz, double lx, double ly, double lz,
                  const BoxOptions& options = {});

/// The unit cube with n nodes per side; otherwise as make_beam.
TetMesh make_cube(const Context<Space::host>& ctx, Index n, const BoxOptions& options = {});

/// Cuts every tetrahedron into eight of an eighth of its volume: four at the corners, four around the shortest
/// diagonal of the octahedron that remains (J. Bey, "Tetrahedral grid refinement", Computing 55, 1995, with the
/// diagonal chosen by length). Old nodes keep their numbers, edge midpoints follow in the order of their ends; tet
/// t becomes tets 8t .. 8t+7. `parents`, when given, receives for each node of the result the ends of the edge that
/// it halves, twice itself for an old node: what a field on the nodes is interpolated by.
/// Throws InputError when 32 bits cannot number the result.
TetMesh refine(const Context<Space::host>& ctx, const TetMesh& mesh,
               std::vector<std::array<Index, 2>>* parents = nullptr);

/// The signed volume of a tetrahedron.
double element_volume(const TetMesh& mesh, Index tet);

/// The first tetrahedron whose volume is not positive, or -1. Node numbers are not checked.
Index first_inverted(const Context<Space::host>& ctx, const TetMesh& mesh);

/// Reads a Medit ASCII mesh, plain or gzipped (recognised by the content): `Dimension 3`, `Vertices` and
/// `Tetrahedra`; other sections are skipped, reference numbers dropped. Volumes are not inspected: see
/// `first_inverted`. Throws InputError "FILE:LINE: expected ..., found ..." for everything else.
TetMesh read_medit(const std::string& path);

/// For each node the tetrahedra around it, in ascending order.
struct NodeTets {
  Array<Offset, Space::host> begin;  ///< nodes + 1
  Array<Index, Space::host> tets;    ///< 4 x tets
};

/// Two passes over the mesh per thread, each keeping the nodes of its own range. What several functions need of one
/// mesh is made once and handed to all of them; without it each makes its own.
NodeTets node_tets(const Context<Space::host>& ctx, const TetMesh& mesh);

struct TetGeometry {
  double volume;
  std::array<Point, 4> gradient;  ///< of the function that is 1 in a corner and 0 in the others; constant
};

/// For a tetrahedron whose volume is not zero.
TetGeometry tet_geometry(const TetMesh& mesh, Index tet);

/// The middle of a tetrahedron.
Point tet_centroid(const TetMesh& mesh, Index tet);

}  // namespace newel::fem
