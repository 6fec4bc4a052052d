// SPDX-License-Identifier: Apache-2.0
/// What a run of newel-beam simulates: body, material, damping, clamp, strike and probes, in SI units.
#pragma once

#include <string>

#include "apps/transient/params.hpp"
#include "elasticity.hpp"

namespace newel::beam {

struct BeamParams {
  Material material;
  double mass_damping = 0;         ///< 1 / s; C = mass_damping M + stiffness_damping K
  double stiffness_damping = 0;    ///< s
  double warming = 0;              ///< K / s, of the whole body from time 0 on
  double modulus_loss = 2.4e-4;    ///< 1 / K: the share of Young's modulus that a degree takes away
  std::string clamped = "lowest";  ///< none | lowest: which nodes do not move
  std::array<double, 3> up = {0, 0, 1};
  double lowest_share = 0;     ///< of the extent along `up`
  std::string struck = "tip";  ///< tip | ball: nodes around the highest one along `up`, or around a point
  std::array<double, 3> ball_centre = {0, 0, 0};
  std::array<double, 3> last_centre = {0, 0, 0};  ///< with several strikes: of the last one
  std::string sides = "one";  ///< one | both: the opposite force acts on the mirror image of the place too
  double radius = 0;          ///< m; the nearest node is always struck
  std::array<double, 3> force = {0, 0, 1};  ///< N, at its peak
  double strike_seconds = 1e-3;             ///< of the half sine that the force follows
  std::vector<std::int64_t> probes;

  /// The share of the strike's peak force, mean from t0 to t1.
  double mean_force(double t0, double t1) const;
  /// Young's modulus at time t, as a multiple of that at time 0.
  double stiffness_factor(double t) const { return 1 - modulus_loss * warming * t; }
};

/// Binds the names of the parameter file.
transient::ParamTable beam_table(BeamParams& params);

}  // namespace newel::beam
