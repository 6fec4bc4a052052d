// SPDX-License-Identifier: Apache-2.0
/// Systems by name: what stands where the name of a matrix file is expected.
#pragma once

#include <string>
#include <string_view>

#include <newel/reorder/partition.hpp>

#include "apps/fem/assembly.hpp"

namespace newel::fem {

/// Whether `spec` names a system to assemble ("generate:..." or "mesh:...") rather than a file to read.
bool is_generated(std::string_view spec);

/// Assembles the system that a spec names:
///
///     generate:diffusion:N     generate:elasticity:N     generate:convection:N[:PE]
///         on a jittered, renumbered tetrahedral cube of N nodes per side, clamped on the face z = 0;
///     generate:grid7:N
///         the 7-point Laplacian on N x N x N points;
///     mesh:FILE:diffusion|elasticity|convection[:R]
///         on a mesh of any format that `read_mesh` knows, refined uniformly R times. Of each connected component the
///         tetrahedra that reach into the lowest twentieth of its height are clamped.
///
/// Conductivity and Young's modulus are 1, Poisson's ratio is 0.3. The wind of the convection rises along z with an
/// eddy around it; its Peclet number over the longest extent is PE, or 50: far from symmetric, and, stabilised by
/// streamline upwinding as it is, no trouble for BiCGStab.
/// Throws InputError that shows the form expected, for sizes that 32 bits cannot number and for bad meshes;
/// OutOfMemory, before the work begins, when the estimated memory exceeds what the host has.
/// `coordinates`, where not null, receives those of the nodes, in three dimensions; none for grid7. `mesh` receives
/// the mesh, with an unknown or three for each node; an empty one for grid7.
HostCsr generate_matrix(const Context<Space::host>& ctx, const std::string& spec,
                        NodeCoordinates* coordinates = nullptr, TetMesh* mesh = nullptr);

}  // namespace newel::fem
