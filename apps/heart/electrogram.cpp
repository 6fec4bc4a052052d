// SPDX-License-Identifier: Apache-2.0
// The weights of an electrogram.
#include "electrogram.hpp"

#include "apps/fem/geometry.hpp"
#include "apps/fem/tet_geometry.hpp"

namespace purlin::heart {

std::vector<double> electrogram_weights(const fem::TetMesh& mesh, const std::vector<fem::Point>& fibers,
                                        const Conductivity& conductivity, const fem::Point& p) {
  using fem::detail::dot, fem::detail::length, fem::detail::minus;
  constexpr double four_pi = 12.566370614359172;
  const double mean = (conductivity.along + 2 * conductivity.across) / 3;
  std::vector<double> weights(mesh.nodes.size(), 0.0);
  for (Index t = 0; t < mesh.tet_count(); ++t) {
    const fem::TetGeometry g = fem::tet_geometry(mesh, t);
    const fem::Tensor d = conduction_tensor(conductivity, fibers.empty() ? fem::Point{} : fibers[t]);
    const fem::Point from = minus(p, fem::tet_centroid(mesh, t));
    const double distance = length(from);
    const double scale =
        g.volume / (four_pi * mean * distance * distance * distance);  // grad(1/|x-p|) = from / |.|^3
    for (int a = 0; a < 4; ++a) {
      fem::Point flux{};
      for (int i = 0; i < 3; ++i) flux[i] = dot(d[i], g.gradient[a]);
      weights[mesh.tets[t][a]] -= scale * dot(flux, from);
    }
  }
  return weights;
}

}  // namespace purlin::heart
