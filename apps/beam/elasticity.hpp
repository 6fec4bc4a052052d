// SPDX-License-Identifier: Apache-2.0
/// Linear elasticity with inertia on tetrahedra of ten nodes: stiffness K and consistent mass M.
///
/// Linear tetrahedra bend far too stiffly; quadratic ones represent the strain of bending exactly. Rows 3i, 3i+1,
/// 3i+2 belong to the displacement of node i along x, y, z. Both matrices have one pattern, and are symmetric bit for
/// bit. Clamped nodes are treated as by fem::assemble_elasticity: their couplings with others leave the pattern, and
/// their own diagonal entries stay.
#pragma once

#include "apps/fem/assembly.hpp"
#include "quadratic_mesh.hpp"

namespace newel::beam {

struct Material {
  double youngs_modulus = 206e9;  ///< Pa
  double poisson_ratio = 0.3;
  double density = 7850;  ///< kg / m^3
};

struct ElasticBody {
  fem::HostCsr stiffness;  ///< the integrals of lambda (div v) (div u) + 2 mu e(v) : e(u); N / m
  fem::HostCsr mass;       ///< the integrals of rho v . u; kg
};

/// `clamped`: one entry for each node of the mesh, not 0: the node does not move. Throws InputError for a tetrahedron
/// whose volume is not positive, for a material that is none, and when 32 bits cannot number the rows.
ElasticBody assemble_body(const Context<Space::host>& ctx, const QuadraticMesh& mesh, const Material& material,
                          const std::vector<unsigned char>& clamped);

}  // namespace newel::beam
