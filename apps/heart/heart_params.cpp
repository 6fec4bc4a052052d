// SPDX-License-Identifier: Apache-2.0
// The parameters of newel-heart by name.
#include "heart_params.hpp"

namespace newel::heart {

transient::ParamTable heart_table(HeartParams& p) {
  using transient::above, transient::at_least, transient::between;
  transient::ParamTable table;
  table.number("tissue.alpha", p.tissue.alpha, "threshold of excitation, of phi from 0 (rest) to 1", between(0, 0.5))
      .number("tissue.b", p.tissue.b, "b of Aliev and Panfilov", above(0))
      .number("tissue.c", p.tissue.c, "c: how fast the tissue is excited", above(0))
      .number("tissue.gamma", p.tissue.gamma, "gamma (their epsilon): how slowly it recovers", at_least(0))
      .number("tissue.mu1", p.tissue.mu1, "mu1: recovery", at_least(0))
      .number("tissue.mu2", p.tissue.mu2, "mu2: recovery", above(0.05))
      .number("tissue.time_unit", p.tissue.time_unit, "ms per unit of the model's time", above(0))
      .number("conduction.along", p.conductivity.along, "mm^2/ms along the fibres", above(0))
      .number("conduction.across", p.conductivity.across, "mm^2/ms across the fibres", above(0))
      .number("stimulus.strength", p.stimulus_strength, "phi per ms, within the region and the time of a --stimulus",
              above(0))
      .number("stimulus.radius", p.stimulus_radius, "mm around the place of the stimulus", above(0))
      .number("fibers.inner_degrees", p.inner_degrees, "helix angle at the inner surface, if fibres follow the rule",
              between(-90, 90))
      .number("fibers.outer_degrees", p.outer_degrees, "helix angle at the outer surface", between(-90, 90))
      .number("activation.threshold", p.threshold, "mV; a node is activated when it first rises through it",
              between(-75, 10))
      .integers("probes.nodes", p.probes,
                "nodes, by their numbers in the mesh file, whose voltage and electrogram are recorded; none: four "
                "along the long axis",
                at_least(1))
      .integer("newton.most_iterations", p.newton_iterations, "Newton iterations of a step before it is halved",
               between(1, 100))
      .integer("step.most_halvings", p.most_halvings, "halvings of --dt before the run ends", between(0, 20));
  return table;
}

}  // namespace newel::heart
