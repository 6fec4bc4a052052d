// SPDX-License-Identifier: Apache-2.0
// The weights of an electrogram.
#include "electrogram.hpp"

#include <algorithm>

#include <purlin/core/parallel.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/fem/tet_geometry.hpp"

namespace purlin::heart {

std::vector<double> electrogram_weights(const Context<Space::host>& ctx, const fem::TetMesh& mesh,
                                        const std::vector<fem::Point>& fibers, const Conductivity& conductivity,
                                        const fem::Point& p) {
  using fem::detail::dot, fem::detail::length, fem::detail::minus;
  constexpr double four_pi = 12.566370614359172;
  const double mean = (conductivity.along + 2 * conductivity.across) / 3;
  const auto shares_of = [&](Index t) {
    const fem::TetGeometry g = fem::tet_geometry(mesh, t);
    const fem::Tensor d = conduction_tensor(conductivity, fibers.empty() ? fem::Point{} : fibers[t]);
    const fem::Point from = minus(p, fem::tet_centroid(mesh, t));
    const double distance = length(from);
    const double scale =
        g.volume / (four_pi * mean * distance * distance * distance);  // grad(1/|x-p|) = from / |.|^3
    std::array<double, 4> shares;
    for (int a = 0; a < 4; ++a) {
      fem::Point flux{};
      for (int i = 0; i < 3; ++i) flux[i] = dot(d[i], g.gradient[a]);
      shares[a] = scale * dot(flux, from);
    }
    return shares;
  };
  // Shares are computed by all threads, and added by one in the order of the tetrahedra: the same bits whatever their
  // number.
  constexpr Index chunk = 1 << 16;
  std::vector<double> weights(mesh.nodes.size(), 0.0);
  std::vector<std::array<double, 4>> shares(static_cast<std::size_t>(std::min(chunk, mesh.tet_count())));
  for (Index first = 0; first < mesh.tet_count(); first += chunk) {
    const Index count = std::min(chunk, mesh.tet_count() - first);
    purlin::detail::parallel_for(ctx, count, [&](Index k) { shares[k] = shares_of(first + k); });
    for (Index k = 0; k < count; ++k) {
      for (int a = 0; a < 4; ++a) weights[mesh.tets[first + k][a]] -= shares[k][a];
    }
  }
  return weights;
}

}  // namespace purlin::heart
