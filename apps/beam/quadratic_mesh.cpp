// SPDX-License-Identifier: Apache-2.0
// The midpoints of the edges are the nodes that uniform refinement adds.
#include "quadratic_mesh.hpp"

#include <utility>

#include <newel/core/parallel.hpp>

namespace newel::beam {

QuadraticMesh make_quadratic(const Context<Space::host>& ctx, const fem::TetMesh& mesh) {
  fem::TetMesh fine = fem::refine(ctx, mesh);
  QuadraticMesh quadratic{std::move(fine.nodes), std::vector<QuadraticTet>(mesh.tets.size())};
  parallel_for(ctx, mesh.tet_count(), [&](Index t) {
    // Child a of a tetrahedron has its corner a, and in the other three places the midpoints of the edges from there.
    const fem::Tet* child = fine.tets.data() + 8 * static_cast<std::size_t>(t);
    const fem::Tet& corner = mesh.tets[static_cast<std::size_t>(t)];
    quadratic.tets[static_cast<std::size_t>(t)] = {corner[0],   corner[1],   corner[2],   corner[3],   child[0][1],
                                                   child[0][2], child[0][3], child[1][2], child[1][3], child[2][3]};
  });
  return quadratic;
}

}  // namespace newel::beam
