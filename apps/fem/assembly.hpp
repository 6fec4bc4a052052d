// SPDX-License-Identifier: Apache-2.0
/// From a tetrahedral mesh to sparse systems: P1 diffusion, convection-diffusion, elasticity, mass and loads.
///
/// Every function assembles row by row: a row gathers from the tetrahedra around its node, in ascending order. So no
/// two threads write one number, the bits do not depend on the number of threads, and what is symmetric on paper is
/// symmetric bit for bit. Rows are numbered like nodes; elasticity has rows 3i, 3i+1, 3i+2 for the displacement of
/// node i along x, y, z. Results are canonical: columns ascend.
///
/// Dirichlet conditions (value 0) keep the system square and its numbering that of the mesh. All couplings of a
/// clamped node with others leave the pattern, in its rows and in its columns; its own diagonal entries stay, so that
/// scale and conditioning are those of the original operator. Elasticity keeps the whole 3 x 3 diagonal block, with
/// explicit zeros off its diagonal: the pattern consists of full blocks everywhere. A node without tetrahedra gets
/// ones on its diagonal.
///
/// Functions that callers hand over are called by several threads at once and must not throw. All functions throw
/// InputError that names the first tetrahedron whose volume is not positive.
#pragma once

#include <functional>

#include <newel/core/csr.hpp>

#include "apps/fem/mesh.hpp"

namespace newel::fem {

using HostCsr = Csr<double, Space::host>;
using HostVector = Array<double, Space::host>;
using Tensor = std::array<std::array<double, 3>, 3>;

/// Decides which nodes are clamped; an empty function clamps none. Called once per node.
using NodeFilter = std::function<bool(Index node, const Point& position)>;
/// A coefficient, constant on each tetrahedron. Called up to four times per tetrahedron.
using TensorField = std::function<Tensor(Index tet, const Point& centroid)>;
using VectorField = std::function<Point(Index tet, const Point& centroid)>;
/// A right-hand side, taken at the nodes. Called once per node.
using ScalarSource = std::function<double(const Point& position)>;
using VectorSource = std::function<Point(const Point& position)>;

struct DiffusionOptions {
  TensorField conductivity;  ///< symmetric positive definite; empty: the identity
  double reaction = 0;       ///< weight of the mass matrix that is added
  NodeFilter clamped;
};

/// The integrals of (grad v) . K grad u + c v u. Symmetric; about 15 entries a row.
HostCsr assemble_diffusion(const Context<Space::host>& ctx, const TetMesh& mesh,
                           const DiffusionOptions& options = {});
/// The same with node_tets of the mesh at hand.
HostCsr assemble_diffusion(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around,
                           const DiffusionOptions& options = {});

/// The integrals of v u (consistent mass), on the pattern of assemble_diffusion without clamped nodes.
HostCsr assemble_mass(const Context<Space::host>& ctx, const TetMesh& mesh);
HostCsr assemble_mass(const Context<Space::host>& ctx, const TetMesh& mesh, const NodeTets& around);

/// The integrals of epsilon (grad v) . (grad u) + (v + tau w . grad v) (w . grad u) for the velocity w: Galerkin's
/// method with streamline-upwind stabilisation, tau = h / (2 |w|) (coth Pe - 1 / Pe), Pe = |w| h / (2 epsilon),
/// h = 2 |w| / sum of |w . grad N_a| (A. Brooks, T. Hughes, Comput. Methods Appl. Mech. Engrg. 32, 1982; T. Tezduyar,
/// Adv. Appl. Mech. 28, 1991). Where the wind blows in through the surface it carries the value 0: -w . n, lumped to
/// the nodes, joins the diagonal, which keeps the operator coercive for an incompressible wind. Not symmetric; same
/// pattern as diffusion. Throws InputError unless the diffusivity is positive.
HostCsr assemble_convection_diffusion(const Context<Space::host>& ctx, const TetMesh& mesh,
                                      const VectorField& velocity, double diffusivity,
                                      const NodeFilter& clamped = {});

/// Linear elasticity: the integrals of lambda (div v) (div u) + 2 mu e(v) : e(u). Symmetric; about 45 entries a row.
/// Throws InputError unless Young's modulus is positive and Poisson's ratio lies in (-1, 1/2).
HostCsr assemble_elasticity(const Context<Space::host>& ctx, const TetMesh& mesh, double youngs_modulus,
                            double poisson_ratio, const NodeFilter& clamped = {});

/// The integrals of v f, with f interpolated from the nodes; 0 at clamped nodes.
HostVector assemble_load(const Context<Space::host>& ctx, const TetMesh& mesh, const ScalarSource& source,
                         const NodeFilter& clamped = {});

/// The same for a force per volume; three rows per node, as in assemble_elasticity.
HostVector assemble_body_force(const Context<Space::host>& ctx, const TetMesh& mesh, const VectorSource& force,
                               const NodeFilter& clamped = {});

/// The 7-point Laplacian on n x n x n points with zero values around: 6 on the diagonal, -1 for each neighbour.
/// Throws InputError for n < 1 or when 32 bits cannot number the rows.
HostCsr grid7(const Context<Space::host>& ctx, Index n);

}  // namespace newel::fem
