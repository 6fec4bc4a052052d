// SPDX-License-Identifier: Apache-2.0
// From a mesh and parameters to the two matrices and the loads of a step.
#include "heat_equation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>

namespace newel::heat {
namespace {

double dot(const fem::Point& a, const fem::Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// q with q = 1 at the heated nodes, scaled so that it adds up to the power.
fem::HostVector source_of(const Context<Space::host>& ctx, const fem::TetMesh& mesh, const HeatParams& params) {
  const auto heated = heated_part(params, mesh);
  fem::HostVector load = fem::assemble_load(ctx, mesh, [&](const fem::Point& at) { return heated(at) ? 1.0 : 0.0; });
  double sum = 0;
  for (const double value : load) sum += value;
  if (!(sum > 0)) {
    throw InputError("source.where '" + params.heated + "': expected nodes of the mesh in this region, found none");
  }
  for (double& value : load) value *= params.power / sum;
  return load;
}

}  // namespace

std::function<bool(const fem::Point&)> cooled_part(const HeatParams& p) {
  if (p.cooled == "all") return [](const fem::Point&) { return true; };
  const double sign = p.cooled == "above" ? 1 : -1;
  return [sign, normal = p.plane_normal, offset = p.plane_offset](const fem::Point& at) {
    return sign * (dot(normal, at) - offset) > 0;
  };
}

std::function<bool(const fem::Point&)> heated_part(const HeatParams& p, const fem::TetMesh& mesh) {
  if (p.heated == "ball") {
    return [centre = p.ball_centre, radius = p.ball_radius](const fem::Point& at) {
      const fem::Point d = {at[0] - centre[0], at[1] - centre[1], at[2] - centre[2]};
      return dot(d, d) <= radius * radius;
    };
  }
  if (p.heated == "all") return [](const fem::Point&) { return true; };
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const fem::Point& at : mesh.nodes) {
    low = std::min(low, at[2]);
    high = std::max(high, at[2]);
  }
  return [level = low + p.lowest_share * (high - low)](const fem::Point& at) { return at[2] <= level; };
}

HeatEquation assemble_heat(const Context<Space::host>& ctx, const fem::TetMesh& mesh, const HeatParams& params,
                           double dt, double theta) {
  if (!(dt > 0) || !std::isfinite(dt)) throw InputError("a time step: expected more than 0");
  HeatEquation eq;
  fem::HostCsr& M = eq.explicit_matrix;
  fem::HostCsr& K = eq.implicit_matrix;
  const fem::NodeTets around = fem::node_tets(ctx, mesh);
  M = fem::assemble_mass(ctx, mesh, around);
  K = fem::assemble_diffusion(ctx, mesh, around);
  for (double& value : K.val) value *= params.conductivity;
  const fem::Surface surface = fem::boundary_surface(ctx, mesh, around);
  const auto cooled = cooled_part(params);
  const double h = params.convection;
  const auto on_cooled = [&](double coefficient) {
    return [&, coefficient](Index, const fem::Point& middle, const fem::Point&) {
      return cooled(middle) ? coefficient : 0.0;
    };
  };
  fem::add_surface_mass(ctx, mesh, surface, on_cooled(h), K);
  eq.ambient_load = fem::assemble_surface_load(ctx, mesh, surface, on_cooled(h * params.ambient));
  eq.source_load = source_of(ctx, mesh, params);
  for (Index t = 0; t < surface.size(); ++t) {
    if (cooled(fem::centroid(mesh, surface.triangles[static_cast<std::size_t>(t)]))) {
      eq.cooled_area += surface.area[static_cast<std::size_t>(t)];
    }
  }

  // M and K become explicit and implicit matrix in place: one pattern, entry by entry.
  const double rho_c = params.density * params.heat_capacity;
  eq.capacity.assign(static_cast<std::size_t>(M.rows), 0.0);
  for (Index i = 0; i < M.rows; ++i) {
    for (Offset e = M.row_ptr[i]; e < M.row_ptr[i + 1]; ++e) {
      const double mass = rho_c * M.val[e], stiffness = K.val[e];
      eq.capacity[static_cast<std::size_t>(i)] += mass;
      M.val[e] = mass / dt - (1 - theta) * stiffness;
      K.val[e] = mass / dt + theta * stiffness;
    }
  }
  return eq;
}

}  // namespace newel::heat
