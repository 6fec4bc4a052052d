// SPDX-License-Identifier: Apache-2.0
/// MeshPart: some nodes of a cube's mesh with all that their rows of a matrix need, made without the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/fem/mesh.hpp"

namespace newel::fem {

/// Own nodes, and all tetrahedra around them with their other nodes. Nodes and tetrahedra are in the order of the
/// whole mesh, so sums over the tetrahedra around an own node have the bits that they have there.
struct MeshPart {
  TetMesh mesh;
  std::vector<std::int64_t> number;  ///< of each node in the whole mesh, ascending
  Index first_own = 0;               ///< the own nodes are consecutive
  Index own = 0;                     ///< how many there are
};

/// Nodes first .. end - 1 of make_cube(ctx, n, options), whose nodes must be renumbered. n may be up to 2^20;
/// the part must have fewer than 2^31 tetrahedra. Memory is that of the part, and 100 bytes for each 512
/// nodes of the whole. Throws InputError for a part that is too large or not in the mesh, and as make_cube.
MeshPart make_cube_part(const Context<Space::host>& ctx, Index n, std::int64_t first, std::int64_t end,
                        const BoxOptions& options);

}  // namespace newel::fem
