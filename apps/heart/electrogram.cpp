// SPDX-License-Identifier: Apache-2.0
// The weights of an electrogram.
#include "electrogram.hpp"

#include <algorithm>

#include <newel/core/parallel.hpp>

#include "apps/fem/geometry.hpp"
#include "apps/fem/mesh.hpp"

namespace newel::heart {
namespace {

using fem::detail::dot, fem::detail::length, fem::detail::minus;

// The same for the points of all electrodes: the tetrahedron's middle, and D grad N_a with its volume.
struct Dipoles {
  double volume;
  fem::Point middle;
  std::array<fem::Point, 4> flux;
};

Dipoles dipoles_of(const fem::TetMesh& mesh, Index tet, const fem::Tensor& d) {
  const fem::TetGeometry g = fem::tet_geometry(mesh, tet);
  Dipoles dipoles{g.volume, fem::tet_centroid(mesh, tet), {}};
  for (int a = 0; a < 4; ++a) {
    for (int i = 0; i < 3; ++i) dipoles.flux[a][i] = dot(d[i], g.gradient[a]);
  }
  return dipoles;
}

std::array<double, 4> shares_at(const fem::Point& p, const Dipoles& dipoles, double mean) {
  constexpr double four_pi = 12.566370614359172;
  const fem::Point from = minus(p, dipoles.middle);
  const double distance = length(from);
  const double scale =
      dipoles.volume / (four_pi * mean * distance * distance * distance);  // grad(1/|x-p|) = from / |.|^3
  std::array<double, 4> shares;
  for (int a = 0; a < 4; ++a) shares[a] = scale * dot(dipoles.flux[a], from);
  return shares;
}

}  // namespace

std::vector<std::vector<double>> electrogram_weights(const Context<Space::host>& ctx, const fem::TetMesh& mesh,
                                                     const std::vector<fem::Point>& fibers,
                                                     const Conductivity& conductivity,
                                                     const std::vector<fem::Point>& points) {
  const double mean = (conductivity.along + 2 * conductivity.across) / 3;
  // Shares are computed by all threads, and those of a point added by one in the order of the tetrahedra: the same
  // bits whatever their number.
  constexpr Index chunk = 1 << 16;
  const std::size_t count = points.size();
  std::vector<std::vector<double>> weights(count, std::vector<double>(mesh.nodes.size(), 0.0));
  std::vector<std::array<double, 4>> shares(count * static_cast<std::size_t>(std::min(chunk, mesh.tet_count())));
  for (Index first = 0; first < mesh.tet_count(); first += chunk) {
    const Index tets = std::min(chunk, mesh.tet_count() - first);
    parallel_for(ctx, tets, [&](Index k) {
      const Index t = first + k;
      const Dipoles dipoles =
          dipoles_of(mesh, t, conduction_tensor(conductivity, fibers.empty() ? fem::Point{} : fibers[t]));
      for (std::size_t p = 0; p < count; ++p) shares[k * count + p] = shares_at(points[p], dipoles, mean);
    });
    parallel_tasks(ctx, count, [&](std::size_t p) {
      std::vector<double>& weight = weights[p];
      for (Index k = 0; k < tets; ++k) {
        for (int a = 0; a < 4; ++a) weight[mesh.tets[first + k][a]] -= shares[k * count + p][a];
      }
    });
  }
  return weights;
}

}  // namespace newel::heart
