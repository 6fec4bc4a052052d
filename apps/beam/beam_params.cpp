// SPDX-License-Identifier: Apache-2.0
// The parameters of newel-beam by name, and the strike's clock.
#include "beam_params.hpp"

#include <algorithm>
#include <cmath>

namespace newel::beam {

double BeamParams::mean_force(double t0, double t1) const {
  constexpr double pi = 3.14159265358979323846;
  const auto phase = [&](double t) { return pi * std::clamp(t / strike_seconds, 0.0, 1.0); };
  return strike_seconds / pi * (std::cos(phase(t0)) - std::cos(phase(t1))) / (t1 - t0);
}

transient::ParamTable beam_table(BeamParams& p) {
  using transient::above, transient::at_least, transient::between;
  transient::NumberRange poisson = between(-1, 0.5);
  poisson.above_least = poisson.below_most = true;
  transient::ParamTable table;
  table.number("material.youngs_modulus", p.material.youngs_modulus, "Pa, at time 0", above(0))
      .number("material.poisson_ratio", p.material.poisson_ratio, "contraction across over extension along", poisson)
      .number("material.density", p.material.density, "kg / m^3", above(0))
      .number("material.modulus_loss", p.modulus_loss, "1 / K: the share of the modulus that a degree takes away")
      .number("damping.mass", p.mass_damping, "1 / s: Rayleigh damping, times M", at_least(0))
      .number("damping.stiffness", p.stiffness_damping, "s: Rayleigh damping, times K", at_least(0))
      .number("warming", p.warming, "K / s, of the whole body from time 0 on")
      .choice("clamp.where", p.clamped, "which nodes do not move", {"none", "lowest"})
      .point("clamp.up", p.up, "the direction in which lowest and tip are meant")
      .number("clamp.lowest_share", p.lowest_share, "for lowest: share of the extent along it", between(0, 1))
      .choice("strike.where", p.struck, "around the highest node, or around a point", {"tip", "ball"})
      .point("strike.centre", p.ball_centre, "for ball: m")
      .point("strike.last_centre", p.last_centre, "with --strikes: m, of the last; the others lie evenly between")
      .choice("strike.sides", p.sides, "both: the opposite force pinches the mirror image, across the body's middle",
              {"one", "both"})
      .number("strike.radius", p.radius, "m: all nodes within share the force; the nearest one always does",
              at_least(0))
      .point("strike.force", p.force, "N, at the peak")
      .number("strike.seconds", p.strike_seconds, "of the half sine that the force follows from time 0 on", above(0))
      .integers("probes.nodes", p.probes,
                "nodes that record.csv follows, numbered as in the mesh file; none: where the body is struck");
  return table;
}

}  // namespace newel::beam
