// SPDX-License-Identifier: Apache-2.0
// Where the mesh comes from, where its fibres come from, which way is up.
#include "heart_body.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <purlin/core/error.hpp>

#include "apps/common/text.hpp"
#include "apps/fem/geometry.hpp"
#include "apps/heart/anatomy/fibers.hpp"
#include "apps/heart/anatomy/ventricle.hpp"

namespace purlin::heart {
namespace {

using cli::text;
using fem::detail::dot;

std::string rule_words(const HeartParams& p) {
  return text("by rule, from %+g degrees inside to %+g outside", p.inner_degrees, p.outer_degrees);
}

HeartBody make_ventricle_body(const Context<Space::host>& host, const transient::RunOptions& options,
                              const HeartParams& params, std::int64_t nodes) {
  fem::VentricleShape shape;
  shape.inner_degrees = params.inner_degrees;
  shape.outer_degrees = params.outer_degrees;
  fem::Ventricle ventricle = fem::make_ventricle(host, nodes, shape);
  HeartBody body;
  body.fibers = std::move(ventricle.fibers);
  for (int i = 0; i < options.refine; ++i) body.fibers = fem::refine_fibers(body.fibers);
  body.input =
      made_mesh_input(host, options, std::move(ventricle.mesh), "an idealised left ventricle", fem::MeshUnit::mm);
  for (const fem::Point& at : body.input.mesh.nodes) body.transmural.push_back(transmural_coordinate(shape, at));
  body.axis = {0, 0, 1};
  body.fiber_source = rule_words(params);
  return body;
}

std::vector<fem::Point> given_fibers(const Context<Space::host>& host, const transient::RunOptions& options,
                                     const std::string& fibers_file, HeartBody& body) {
  if (!fibers_file.empty()) {
    std::vector<fem::Point> fibers = fem::read_fibers(host, fibers_file, fem::read_mesh(options.mesh));
    for (int i = 0; i < options.refine; ++i) fibers = fem::refine_fibers(fibers);
    body.fiber_source = fibers_file;
    return fibers;
  }
  fem::MeshFile file;
  file.mesh = body.input.mesh;
  file.node_vectors = body.input.node_vectors;
  file.tet_vectors = body.input.tet_vectors;
  std::vector<fem::Point> fibers = fem::fibers_from_mesh_file(host, file);
  if (!fibers.empty()) body.fiber_source = "the vectors of the mesh file";
  return fibers;
}

HeartBody read_body(const Context<Space::host>& host, const transient::RunOptions& options, const HeartParams& params,
                    const std::string& fibers_file, const transient::Say& say) {
  HeartBody body;
  body.input = read_mesh_input(host, options, fem::BodyKind::heart, fem::MeshUnit::mm, say);
  fem::FiberRule rule;
  rule.inner_degrees = params.inner_degrees;
  rule.outer_degrees = params.outer_degrees;
  fem::RuleFibers made = fem::make_fibers(host, body.input.mesh, rule);
  body.transmural = std::move(made.transmural);
  body.axis = made.axis;
  body.fibers = given_fibers(host, options, fibers_file, body);
  if (body.fibers.empty()) {
    body.fibers = std::move(made.fibers);
    body.fiber_source = rule_words(params);
  }
  return body;
}

// The base is where more of the tissue is: an apex is pointed.
void orient(HeartBody& body) {
  const fem::TetMesh& mesh = body.input.mesh;
  double low = std::numeric_limits<double>::max(), high = -low;
  for (const fem::Point& at : mesh.nodes) {
    low = std::min(low, dot(at, body.axis));
    high = std::max(high, dot(at, body.axis));
  }
  double volume_low = 0, volume_high = 0;
  for (Index t = 0; t < mesh.tet_count(); ++t) {
    const double height = dot(mesh.nodes[mesh.tets[t][0]], body.axis);
    const double share = (height - low) / (high - low);
    if (share < 0.15) volume_low += fem::element_volume(mesh, t);
    if (share > 0.85) volume_high += fem::element_volume(mesh, t);
  }
  if (volume_low > volume_high) {
    for (double& x : body.axis) x = -x;
  }
  body.base = -std::numeric_limits<double>::max();
  double lowest = std::numeric_limits<double>::max();
  for (Index i = 0; i < mesh.node_count(); ++i) {
    const double height = dot(mesh.nodes[i], body.axis);
    body.base = std::max(body.base, height);
    if (height >= lowest) continue;
    lowest = height;
    body.apex = i;
  }
}

}  // namespace

HeartBody make_heart_body(const Context<Space::host>& host, const transient::RunOptions& options,
                          const HeartParams& params, const std::string& fibers_file, std::int64_t nodes,
                          const transient::Say& say) {
  if (!options.mesh.empty()) {
    HeartBody body = read_body(host, options, params, fibers_file, say);
    orient(body);
    return body;
  }
  if (!fibers_file.empty()) throw InputError("--fibers needs the mesh that they belong to");
  HeartBody body = make_ventricle_body(host, options, params, nodes);
  orient(body);
  return body;
}

std::string resolution_warning(const HeartBody& body, const HeartParams& params) {
  const double width = front_width(params.tissue, params.conductivity.across);
  const double edge = body.input.facts.edge_mean;
  if (edge <= width) return "";
  const int times = static_cast<int>(std::ceil(std::log2(edge / width)));
  return text(
      "edges of %.2g mm do not resolve a wave front of %.2g mm across the fibres: the wave will be too fast or "
      "ragged, or stop; --refine %d would do",
      edge, width, times);
}

std::vector<Index> usual_probes(const HeartBody& body) {
  const fem::TetMesh& mesh = body.input.mesh;
  const double low = dot(mesh.nodes[body.apex], body.axis);
  std::vector<Index> probes = {body.apex};
  for (const double share : {1.0 / 3, 2.0 / 3, 1.0}) {
    const double height = low + share * (body.base - low);
    Index nearest = body.apex;
    double least = std::numeric_limits<double>::max();
    for (Index i = 0; i < mesh.node_count(); ++i) {
      // The outer surface first, then the height; equals go to the lower number.
      const double distance = std::fabs(dot(mesh.nodes[i], body.axis) - height) + 10 * (1 - body.transmural[i]);
      if (distance >= least) continue;
      least = distance;
      nearest = i;
    }
    if (std::find(probes.begin(), probes.end(), nearest) == probes.end()) probes.push_back(nearest);
  }
  return probes;
}

}  // namespace purlin::heart
