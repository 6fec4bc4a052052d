// SPDX-License-Identifier: Apache-2.0
/// The part that newel-heat comes with: a plate with fins, as it cools a chip.
#pragma once

#include "apps/fem/mesh.hpp"

namespace newel::heat {

/// In metres. The plate lies on z = 0, the fins stand on it along y.
struct HeatSink {
  double side = 0.060;   ///< of the plate, along x and y
  double plate = 0.006;  ///< its thickness
  double fin_height = 0.030;
  int fins = 8;
  /// Fins and gaps are side / (2 fins - 1) thick and take turns; cells are cubes, or nearly so.
  int cells_across_fin = 2;
};

/// Cells cut into six tetrahedra each (Kuhn's subdivision), nodes numbered along x, then y, then z: 15,004 with the
/// values above.
/// Throws InputError for counts below 1 and lengths that are not positive.
fem::TetMesh make_heat_sink(const HeatSink& sink = {});

}  // namespace newel::heat
