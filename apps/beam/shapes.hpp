// SPDX-License-Identifier: Apache-2.0
/// The bodies that newel-beam comes with: a tuning fork and a clamped bar.
#pragma once

#include <string>
#include <vector>

#include "apps/fem/mesh.hpp"
#include "beam_params.hpp"
#include "beam_theory.hpp"

namespace newel::beam {

/// In metres. Two tines of rectangular cross section stand on a bridge, which stands on a stem, along z.
struct TuningFork {
  double length = 0.08425;   ///< of the tines, above the bridge; with the others, 440 Hz in steel
  double thickness = 0.004;  ///< of a tine, along x, in which it bends
  double width = 0.006;      ///< of all, along y
  double gap = 0.008;        ///< between the tines, along x
  double bridge = 0.008;     ///< its height
  double stem = 0.04;        ///< its length
};

/// The bar lies along x and is clamped at x = 0. It bends along z and along y.
struct ClampedBar {
  double length = 0.2;
  double width = 0.02;   ///< along y
  double height = 0.01;  ///< along z
};

/// About 420 cells of 2 x 3 x 4 mm, each cut into six tetrahedra.
fem::TetMesh make_fork(const TuningFork& fork = {});
/// 20 x 2 x 2 cells.
fem::TetMesh make_bar(const ClampedBar& bar = {});

/// A built-in body: what it is, where it is struck, what theory says of it.
struct Shape {
  std::string name;         ///< of the option, "fork"
  std::string description;  ///< "a tuning fork"
  fem::TetMesh mesh;
  BeamParams params;
  std::vector<fem::Point> probes;  ///< the nearest nodes are recorded, unless the parameters name others
  Cantilever cantilever;           ///< that its first mode is compared with
};

std::vector<std::string> shape_names();
/// Throws InputError for another name.
Shape make_shape(const std::string& name);

}  // namespace newel::beam
