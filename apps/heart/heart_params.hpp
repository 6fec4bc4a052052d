// SPDX-License-Identifier: Apache-2.0
/// The parameters of newel-heart: tissue, conduction, stimulus, fibres, probes, control of Newton's method.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/heart/heart_assembly.hpp"
#include "apps/transient/params.hpp"

namespace newel::heart {

struct HeartParams {
  Tissue tissue;
  Conductivity conductivity;
  double stimulus_strength = 0.5;  ///< of phi per ms
  double stimulus_radius = 2.5;    ///< mm
  double inner_degrees = 60;       ///< helix angle of fibres made by rule
  double outer_degrees = -60;
  double threshold = -40;  ///< mV; a node is activated when its voltage first rises through it
  /// Nodes, by their numbers in the mesh file (from 1 where it has none), whose voltage and electrogram are recorded.
  /// Empty: four along the long axis.
  std::vector<std::int64_t> probes;
  std::int64_t newton_iterations = 12;
  std::int64_t most_halvings = 10;
};

/// All of them by name. `params` outlives the table.
transient::ParamTable heart_table(HeartParams& params);

}  // namespace newel::heart
