// SPDX-License-Identifier: Apache-2.0
/// BeamBody: a body with its matrices, its clamp, the forces of its strikes, and the rows that are recorded.
#pragma once

#include <vector>

#include "apps/transient/mesh_input.hpp"
#include "beam_params.hpp"
#include "elasticity.hpp"

namespace newel::beam {

struct BeamBody {
  QuadraticMesh mesh;
  ElasticBody matrices;
  std::vector<std::vector<double>> strikes;  ///< for each strike the force on every row at its peak, N
  std::vector<fem::Point> struck_at;         ///< the centre of each strike
  std::vector<Index> probes;                 ///< nodes of the mesh file

  Index rows() const { return matrices.mass.rows; }
};

/// `strikes`: how many, with their centres evenly between the first and the last. `probes`: where it is recorded if
/// the parameters name no nodes; none: at the first strike. Throws InputError for a clamp that holds every node, for
/// probes that the mesh does not have, for several strikes at the tip, and for what `assemble_body` refuses.
BeamBody make_body(const Context<Space::host>& ctx, const transient::MeshInput& input, const BeamParams& params,
                   int strikes, const std::vector<fem::Point>& probes);

}  // namespace newel::beam
