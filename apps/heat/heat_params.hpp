// SPDX-License-Identifier: Apache-2.0
/// What a run of newel-heat simulates: material, surface, source, in SI units with temperatures in degrees Celsius.
#pragma once

#include <string>

#include "apps/transient/params.hpp"

namespace newel::heat {

struct HeatParams {
  double conductivity = 200;   ///< W / (m K); aluminium
  double density = 2700;       ///< kg / m^3
  double heat_capacity = 900;  ///< J / (kg K)
  double initial = 20;         ///< temperature at the beginning
  double convection = 50;      ///< h, W / (m^2 K), on the surface; air from a fan
  double ambient = 20;         ///< u_inf
  std::string cooled = "all";  ///< all | above | below: triangles whose middle is on that side of a plane
  std::array<double, 3> plane_normal = {0, 0, 1};
  double plane_offset = 0;        ///< normal . x = offset, m
  double power = 60;              ///< W, of the source while it is on
  std::string heated = "lowest";  ///< all | lowest | ball: where the power goes
  double lowest_share = 0.05;     ///< of the height along z
  std::array<double, 3> ball_centre = {0, 0, 0};
  double ball_radius = 0.01;  ///< m
  double on_seconds = 60;
  double off_seconds = 60;  ///< after which it is on again; 0: always on

  /// Mean of the source's amplitude (1 on, 0 off) from t0 to t1: what a step takes, so that no energy is lost where
  /// the source switches within it.
  double mean_amplitude(double t0, double t1) const;
};

/// Binds the names of the parameter file.
transient::ParamTable heat_table(HeatParams& params);

/// The parameters for the part that the program comes with: the plate lies on its chip.
HeatParams heat_sink_params();

}  // namespace newel::heat
