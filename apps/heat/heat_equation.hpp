// SPDX-License-Identifier: Apache-2.0
/// The heat equation in space and time:
///
///     rho c du/dt = div(k grad u) + a(t) q(x)   inside,      k du/dn = h (u_inf - u)   on the cooled surface,
///
/// P1 in space: M u' + K u = a(t) q + h u_inf s, with M = rho c times the mass matrix and K = k times stiffness plus
/// h times the surface's mass. In time the theta method: theta = 1 is backward Euler (first order), theta = 1/2
/// Crank-Nicolson (second order). With w = M / dt one step solves
///
///     (w + theta K) u_new = (w - (1 - theta) K) u_old + a q + h u_inf s
///
/// with the mean of a over the step. Both matrices are constant, have one pattern, and the first is symmetric and
/// positive definite.
#pragma once

#include <functional>

#include "apps/fem/assembly.hpp"
#include "apps/fem/surface.hpp"
#include "heat_params.hpp"

namespace newel::heat {

inline constexpr double backward_euler = 1;
inline constexpr double crank_nicolson = 0.5;

struct HeatEquation {
  fem::HostCsr implicit_matrix;  ///< w + theta K
  fem::HostCsr explicit_matrix;  ///< w - (1 - theta) K, on the same pattern
  fem::HostVector ambient_load;  ///< h u_inf s, W at each node
  fem::HostVector source_load;   ///< q, W at each node: adds up to the power
  std::vector<double> capacity;  ///< J / K at each node: row sums of M
  double cooled_area = 0;        ///< m^2
};

/// Which triangles of the surface are cooled.
std::function<bool(const fem::Point& centroid)> cooled_part(const HeatParams& params);
/// Which nodes are heated: all within the height or the ball.
std::function<bool(const fem::Point& position)> heated_part(const HeatParams& params, const fem::TetMesh& mesh);

/// Assembles for a mesh in metres. Throws InputError where the part to be heated holds no node, or dt is not
/// positive.
HeatEquation assemble_heat(const Context<Space::host>& ctx, const fem::TetMesh& mesh, const HeatParams& params,
                           double dt, double theta);

}  // namespace newel::heat
