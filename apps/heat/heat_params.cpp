// SPDX-License-Identifier: Apache-2.0
// The parameters of newel-heat by name, and the source's clock.
#include "heat_params.hpp"

#include <algorithm>
#include <cmath>

namespace newel::heat {

double HeatParams::mean_amplitude(double t0, double t1) const {
  if (off_seconds == 0) return 1;
  const double period = on_seconds + off_seconds;
  // Seconds of "on" from time 0 to t.
  const auto on_until = [&](double t) {
    const double cycles = std::floor(t / period);
    return cycles * on_seconds + std::min(std::max(t - cycles * period, 0.0), on_seconds);
  };
  return std::clamp((on_until(t1) - on_until(t0)) / (t1 - t0), 0.0, 1.0);
}

transient::ParamTable heat_table(HeatParams& p) {
  using transient::above, transient::any_number, transient::at_least;
  transient::ParamTable table;
  table.number("material.conductivity", p.conductivity, "W / (m K)", above(0))
      .number("material.density", p.density, "kg / m^3", above(0))
      .number("material.heat_capacity", p.heat_capacity, "J / (kg K)", above(0))
      .number("initial_temperature", p.initial, "degrees Celsius, everywhere")
      .number("convection.coefficient", p.convection, "h in W / (m^2 K); 0: insulated", at_least(0))
      .number("convection.ambient_temperature", p.ambient, "degrees Celsius")
      .choice("convection.where", p.cooled, "part of the surface, by the centres of its triangles",
              {"all", "above", "below"})
      .point("convection.plane_normal", p.plane_normal,
             "normal of the plane normal . x = offset, for above and below")
      .number("convection.plane_offset", p.plane_offset, "m")
      .number("source.power", p.power, "W while it is on", any_number())
      .choice("source.where", p.heated, "which nodes it heats", {"all", "lowest", "ball"})
      .number("source.lowest_share", p.lowest_share, "for lowest: share of the height along z",
              transient::between(0, 1))
      .point("source.ball_centre", p.ball_centre, "for ball: m")
      .number("source.ball_radius", p.ball_radius, "for ball: m", above(0))
      .number("source.on_seconds", p.on_seconds, "from time 0 on", above(0))
      .number("source.off_seconds", p.off_seconds, "then off, until it is on again; 0: always on", at_least(0));
  return table;
}

HeatParams heat_sink_params() {
  HeatParams p;
  p.cooled = "above";
  p.plane_offset = 1e-6;
  p.heated = "ball";
  p.ball_centre = {0.03, 0.03, 0};
  p.ball_radius = 0.012;
  return p;
}

}  // namespace newel::heat
