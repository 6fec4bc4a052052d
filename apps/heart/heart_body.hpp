// SPDX-License-Identifier: Apache-2.0
/// HeartBody: the mesh of a run with its fibres, and the directions by which places in it are called.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "apps/heart/heart_params.hpp"
#include "apps/transient/mesh_input.hpp"

namespace newel::heart {

struct HeartBody {
  transient::MeshInput input;      ///< mm
  std::vector<fem::Point> fibers;  ///< per tetrahedron, of length 1, or zero
  std::vector<double> transmural;  ///< per node: 0 on inner surfaces, 1 on the outer one
  fem::Point axis{};               ///< the long axis, of length 1, from apex to base
  Index apex = 0;                  ///< the node farthest against the axis
  double base = 0;                 ///< the largest coordinate along the axis
  std::string fiber_source;        ///< "by rule from +60 to -60 degrees", "of the file", ...
};

/// A ventricle of about `nodes` nodes where no mesh is named (see fem::make_ventricle), else the mesh file. Fibres
/// come from `fibers_file`, where it is not empty; else from the mesh file, where it has vectors; else by rule.
/// Refinement and unit are those of the options; the depth in the wall is solved for in `place`; `clock` and `say` as
/// for read_mesh_input, with the phases "ventricle" or "fibres" and "axis". Throws InputError.
template <Space S>
HeartBody make_heart_body(const Context<Space::host>& host, const Context<S>& place,
                          const transient::RunOptions& options, const HeartParams& params,
                          const std::string& fibers_file, std::int64_t nodes, cli::RunClock& clock,
                          const transient::Say& say = {});

/// Warnings about what the mesh means for the wave: edges that do not resolve the front. Empty: none.
std::string resolution_warning(const HeartBody& body, const HeartParams& params);

/// When and where the tissue is stimulated.
struct Stimulus {
  enum class Place { apex, base, endo, point };
  std::string text;         ///< as typed
  bool by_default = false;  ///< it was not requested
  Place place = Place::apex;
  fem::Point at{};                 ///< for `point`, mm
  double start = 0, duration = 2;  ///< ms

  /// The share of the time from `from` to `to` in which it acts.
  double share(double from, double to) const {
    const double overlap = std::min(to, start + duration) - std::max(from, start);
    return overlap > 0 ? overlap / (to - from) : 0.0;
  }
};

/// "apex", "base@100", "endo@0:3", "10.5,0,-20@350:2": PLACE[@START[:DURATION]] in mm and ms. Throws cli::UsageError.
Stimulus parse_stimulus(const std::string& text);

/// A bit per stimulus and tetrahedron, by the tetrahedron's middle: within `radius` of the apex or the point, of the
/// base plane, or in the inner fifth of the wall. Throws InputError for a stimulus that reaches no tetrahedron, with
/// the distance of the nearest and the unit of the mesh, and for more than StimulusRates::most.
std::vector<std::uint32_t> mark_elements(const Context<Space::host>& host, const HeartBody& body,
                                         const std::vector<Stimulus>& stimuli, double radius);

/// What they add in a step, each `strength` per ms while it acts: its whole effect, however long the step.
StimulusRates stimulus_rates(const std::vector<Stimulus>& stimuli, double strength, double from, double to);

/// Nodes to watch where none are named: the apex, and three more at a third, two thirds and the end of the long axis,
/// on the outer surface.
std::vector<Index> usual_probes(const Context<Space::host>& host, const HeartBody& body);

}  // namespace newel::heart
