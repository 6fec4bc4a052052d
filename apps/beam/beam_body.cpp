// SPDX-License-Identifier: Apache-2.0
// From a mesh and parameters to matrices, forces and probes.
#include "beam_body.hpp"

#include <algorithm>
#include <limits>

#include <newel/core/error.hpp>

#include "apps/common/text.hpp"
#include "apps/fem/geometry.hpp"

namespace newel::beam {
namespace {

using cli::text;
using fem::Point;
using fem::detail::dot;
using fem::detail::length;
using fem::detail::minus;
using fem::detail::plus;

std::vector<double> heights_of(const std::vector<Point>& nodes, const Point& up) {
  if (!(length(up) > 0)) throw InputError("clamp.up: expected a direction, found [0, 0, 0]");
  std::vector<double> heights;
  for (const Point& at : nodes) heights.push_back(dot(at, up));
  return heights;
}

std::vector<unsigned char> clamp_of(const std::vector<double>& heights, const BeamParams& params) {
  std::vector<unsigned char> clamped(heights.size(), 0);
  if (params.clamped == "none") return clamped;
  constexpr double rounding = 1e-9;  // of the extent: the lowest face of a generated mesh need not be exactly plane
  const auto [low, high] = std::minmax_element(heights.begin(), heights.end());
  const double level = *low + std::max(params.lowest_share, rounding) * (*high - *low);
  for (std::size_t i = 0; i < heights.size(); ++i) clamped[i] = heights[i] <= level ? 1 : 0;
  if (std::find(clamped.begin(), clamped.end(), 0) == clamped.end()) {
    throw InputError("clamp.lowest_share: expected nodes that can move, but all are clamped");
  }
  return clamped;
}

// Among the first `count` nodes.
Index nearest_node(const std::vector<Point>& nodes, std::size_t count, const Point& to) {
  const auto distance = [&](const Point& at) { return length(minus(at, to)); };
  const auto nearest = std::min_element(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count),
                                        [&](const Point& a, const Point& b) { return distance(a) < distance(b); });
  return static_cast<Index>(nearest - nodes.begin());
}

std::vector<Point> strike_centres(const BeamParams& params, const std::vector<Point>& nodes,
                                  const std::vector<double>& heights, int strikes) {
  if (params.struck == "tip") {
    if (strikes > 1) throw InputError("--strikes: several need strike.where 'ball' with its first and last centre");
    return {nodes[static_cast<std::size_t>(std::max_element(heights.begin(), heights.end()) - heights.begin())]};
  }
  std::vector<Point> centres;
  const Point along = minus(params.last_centre, params.ball_centre);
  for (int k = 0; k < strikes; ++k) {
    centres.push_back(plus(params.ball_centre, strikes == 1 ? 0.0 : static_cast<double>(k) / (strikes - 1), along));
  }
  return centres;
}

// In the plane through the middle of the box around the body, across `direction`.
Point mirrored(const Point& at, const std::vector<Point>& nodes, const Point& direction) {
  const Point across = fem::detail::normalised(direction);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Point& node : nodes) {
    low = std::min(low, dot(node, across));
    high = std::max(high, dot(node, across));
  }
  return plus(at, low + high - 2 * dot(at, across), across);
}

// Shares `force` among the nodes around `centre` that can move.
void add_force(const QuadraticMesh& mesh, const Point& centre, const Point& force, double radius,
               const std::vector<unsigned char>& clamped, std::vector<double>& on_rows) {
  std::vector<std::size_t> struck;
  for (std::size_t i = 0; i < mesh.nodes.size(); ++i) {
    if (length(minus(mesh.nodes[i], centre)) <= radius && clamped[i] == 0) struck.push_back(i);
  }
  if (struck.empty()) struck = {static_cast<std::size_t>(nearest_node(mesh.nodes, mesh.nodes.size(), centre))};
  if (clamped[struck.front()] != 0) {
    throw InputError(text("strike: the node next to [%g, %g, %g] is clamped, expected one that can move", centre[0],
                          centre[1], centre[2]));
  }
  for (const std::size_t node : struck) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      on_rows[3 * node + axis] += force[axis] / static_cast<double>(struck.size());
    }
  }
}

std::vector<double> force_at(const QuadraticMesh& mesh, const Point& centre, const BeamParams& params,
                             const std::vector<unsigned char>& clamped) {
  std::vector<double> force(3 * mesh.nodes.size(), 0.0);
  add_force(mesh, centre, params.force, params.radius, clamped, force);
  if (params.sides == "both") {
    const Point opposite = {-params.force[0], -params.force[1], -params.force[2]};
    add_force(mesh, mirrored(centre, mesh.nodes, params.force), opposite, params.radius, clamped, force);
  }
  return force;
}

std::vector<Index> probes_of(const transient::MeshInput& input, const BeamParams& params,
                             const std::vector<Point>& wanted) {
  std::vector<Index> probes;
  if (params.probes.empty()) {
    for (const Point& at : wanted) probes.push_back(nearest_node(input.mesh.nodes, input.mesh.nodes.size(), at));
    return probes;
  }
  for (const std::int64_t number : params.probes) {
    const Index node = input.node_of(number);
    if (node < 0) throw InputError(text("probes.nodes: the mesh has no node %lld", static_cast<long long>(number)));
    probes.push_back(node);
  }
  return probes;
}

}  // namespace

BeamBody make_body(const Context<Space::host>& ctx, const transient::MeshInput& input, const BeamParams& params,
                   int strikes, const std::vector<Point>& probes) {
  BeamBody body;
  body.mesh = make_quadratic(ctx, input.mesh);
  const std::vector<double> heights = heights_of(body.mesh.nodes, params.up);
  const std::vector<unsigned char> clamped = clamp_of(heights, params);
  body.struck_at = strike_centres(params, body.mesh.nodes, heights, strikes);
  for (const Point& centre : body.struck_at) body.strikes.push_back(force_at(body.mesh, centre, params, clamped));
  body.probes = probes_of(input, params, probes.empty() ? std::vector<Point>{body.struck_at.front()} : probes);
  body.matrices = assemble_body(ctx, body.mesh, params.material, clamped);
  return body;
}

}  // namespace newel::beam
