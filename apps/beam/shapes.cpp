// SPDX-License-Identifier: Apache-2.0
// Built-in bodies, with where they are held and struck.
#include "shapes.hpp"

#include <newel/core/error.hpp>

#include "apps/fem/cell_mesh.hpp"

namespace newel::beam {
namespace {

constexpr int tine_cells = 2;   // across a tine
constexpr int gap_cells = 4;    // between the tines
constexpr int width_cells = 2;  // along y
constexpr int stem_cells = 10, bridge_cells = 3, tine_cells_up = 24;
constexpr int bar_cells = 20, bar_cells_across = 2;

Shape fork_shape() {
  const TuningFork fork;
  Shape shape{"fork", "a tuning fork", make_fork(fork), {}, {}, {fork.length, fork.thickness}};
  const double outside = fork.thickness + 0.5 * fork.gap, top = fork.stem + fork.bridge + fork.length;
  BeamParams& p = shape.params;
  p.struck = "ball";
  p.ball_centre = {outside, 0.5 * fork.width, top};
  p.last_centre = {outside, 0.5 * fork.width, top - 0.75 * fork.length};
  p.radius = 0.003;
  p.sides = "both";
  p.force = {-20, 0, 0};
  shape.probes = {{outside, 0.5 * fork.width, top}, {-outside, 0.5 * fork.width, top}};
  return shape;
}

Shape bar_shape() {
  const ClampedBar bar;
  Shape shape{"bar", "a clamped bar", make_bar(bar), {}, {}, {bar.length, bar.height}};
  BeamParams& p = shape.params;
  p.up = {1, 0, 0};
  p.struck = "ball";
  p.ball_centre = {bar.length, 0.5 * bar.width, bar.height};
  p.last_centre = {0.25 * bar.length, 0.5 * bar.width, bar.height};
  p.radius = 0.004;
  p.force = {0, 0, -50};
  p.strike_seconds = 5e-4;
  shape.probes = {{bar.length, 0.5 * bar.width, bar.height}};
  return shape;
}

}  // namespace

fem::TetMesh make_fork(const TuningFork& f) {
  std::array<std::vector<double>, 3> lines;
  const double inside = 0.5 * f.gap, outside = inside + f.thickness;
  fem::append_lines(lines[0], -outside, -inside, tine_cells);
  fem::append_lines(lines[0], -inside, inside, gap_cells);
  fem::append_lines(lines[0], inside, outside, tine_cells);
  fem::append_lines(lines[1], 0, f.width, width_cells);
  fem::append_lines(lines[2], 0, f.stem, stem_cells);
  fem::append_lines(lines[2], f.stem, f.stem + f.bridge, bridge_cells);
  fem::append_lines(lines[2], f.stem + f.bridge, f.stem + f.bridge + f.length, tine_cells_up);
  return fem::mesh_of_cells(lines, [](const std::array<int, 3>& c) {
    // The stem is as thick as half of the gap.
    if (c[2] < stem_cells) return c[0] >= tine_cells + gap_cells / 4 && c[0] < tine_cells + 3 * gap_cells / 4;
    if (c[2] < stem_cells + bridge_cells) return true;
    return c[0] < tine_cells || c[0] >= tine_cells + gap_cells;
  });
}

fem::TetMesh make_bar(const ClampedBar& bar) {
  std::array<std::vector<double>, 3> lines;
  fem::append_lines(lines[0], 0, bar.length, bar_cells);
  fem::append_lines(lines[1], 0, bar.width, bar_cells_across);
  fem::append_lines(lines[2], 0, bar.height, bar_cells_across);
  return fem::mesh_of_cells(lines, [](const std::array<int, 3>&) { return true; });
}

std::vector<std::string> shape_names() { return {"fork", "bar"}; }

Shape make_shape(const std::string& name) {
  if (name == "fork") return fork_shape();
  if (name == "bar") return bar_shape();
  throw InputError("no built-in body '" + name + "'");
}

}  // namespace newel::beam
