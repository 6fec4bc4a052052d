// SPDX-License-Identifier: Apache-2.0
// Where the mesh comes from, where its fibres come from, which way is up.
#include "heart_body.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/common/text.hpp"
#include "apps/fem/geometry.hpp"
#include "apps/heart/anatomy/fibers.hpp"
#include "apps/heart/anatomy/ventricle.hpp"

namespace newel::heart {
namespace {

using cli::text;
using fem::detail::dot;

std::string rule_words(const HeartParams& p) {
  return text("by rule, from %+g degrees inside to %+g outside", p.inner_degrees, p.outer_degrees);
}

HeartBody make_ventricle_body(const Context<Space::host>& host, const transient::RunOptions& options,
                              const HeartParams& params, std::int64_t nodes, cli::RunClock& clock) {
  fem::VentricleShape shape;
  shape.inner_degrees = params.inner_degrees;
  shape.outer_degrees = params.outer_degrees;
  fem::Ventricle ventricle = fem::make_ventricle(host, nodes, shape);
  HeartBody body;
  body.fibers = std::move(ventricle.fibers);
  for (int i = 0; i < options.refine; ++i) body.fibers = fem::refine_fibers(body.fibers);
  clock.end("ventricle");
  body.input = made_mesh_input(host, options, std::move(ventricle.mesh), "an idealised left ventricle",
                               fem::MeshUnit::mm, clock);
  body.transmural.resize(body.input.mesh.nodes.size());
  parallel_for(host, body.input.mesh.node_count(),
               [&](Index i) { body.transmural[i] = transmural_coordinate(shape, body.input.mesh.nodes[i]); });
  body.axis = {0, 0, 1};
  body.fiber_source = rule_words(params);
  clock.end("ventricle");
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
  std::vector<fem::Point> fibers =
      fem::fibers_from_vectors(host, body.input.mesh, body.input.node_vectors, body.input.tet_vectors);
  if (!fibers.empty()) body.fiber_source = "the vectors of the mesh file";
  return fibers;
}

template <Space S>
HeartBody read_body(const Context<Space::host>& host, const Context<S>& place, const transient::RunOptions& options,
                    const HeartParams& params, const std::string& fibers_file, cli::RunClock& clock,
                    const transient::Say& say) {
  HeartBody body;
  body.input = read_mesh_input(host, options, fem::BodyKind::heart, fem::MeshUnit::mm, clock, say);
  fem::FiberRule rule;
  rule.inner_degrees = params.inner_degrees;
  rule.outer_degrees = params.outer_degrees;
  fem::RuleFibers made =
      fem::make_fibers(host, place, body.input.mesh, *body.input.around, body.input.unrefined.get(), rule);
  body.input.unrefined.reset();
  body.transmural = std::move(made.transmural);
  body.axis = made.axis;
  body.fibers = given_fibers(host, options, fibers_file, body);
  if (body.fibers.empty()) {
    body.fibers = std::move(made.fibers);
    body.fiber_source = rule_words(params);
  }
  clock.end("fibres");
  return body;
}

// The node of the lowest value, of equals the one with the lowest number; `none` where no value is below the largest
// number.
template <class F>
Index lowest_by(const Context<Space::host>& host, Index nodes, Index none, F&& value_of) {
  struct Lowest {
    double value = std::numeric_limits<double>::max();
    Index node = -1;
  };
  const Lowest lowest = parallel_reduce(
      host, nodes, Lowest{},
      [&](Index i, Lowest& mine) {
        const double value = value_of(i);
        if (value < mine.value) mine = {value, i};
      },
      [](Lowest& total, const Lowest& mine) {
        if (mine.value < total.value) total = mine;
      });
  return lowest.node < 0 ? none : lowest.node;
}

// Tissue near the lower and the upper end of the axis, where heights lie between `low` and `high`.
struct EndVolumes {
  double low = 0, high = 0;
};

// Sums of chunks are added in order: the bits do not depend on the number of threads.
EndVolumes end_volumes(const Context<Space::host>& host, const HeartBody& body, double low, double high) {
  constexpr Index chunk = 1 << 14;
  const fem::TetMesh& mesh = body.input.mesh;
  const Index chunks = (mesh.tet_count() + chunk - 1) / chunk;
  std::vector<EndVolumes> sums(static_cast<std::size_t>(chunks));
  parallel_tasks(host, chunks, [&](Index c) {
    EndVolumes& sum = sums[static_cast<std::size_t>(c)];
    for (Index t = c * chunk; t < std::min(mesh.tet_count(), (c + 1) * chunk); ++t) {
      const double height = dot(mesh.nodes[mesh.tets[t][0]], body.axis);
      const double share = (height - low) / (high - low);
      if (share < 0.15) sum.low += fem::element_volume(mesh, t);
      if (share > 0.85) sum.high += fem::element_volume(mesh, t);
    }
  });
  EndVolumes total;
  for (const EndVolumes& sum : sums) {
    total.low += sum.low;
    total.high += sum.high;
  }
  return total;
}

// The base is where more of the tissue is: an apex is pointed.
void orient(const Context<Space::host>& host, HeartBody& body) {
  const fem::TetMesh& mesh = body.input.mesh;
  const auto height = [&](Index i) { return dot(mesh.nodes[i], body.axis); };
  const auto depth = [&](Index i) { return -height(i); };
  Index lowest = lowest_by(host, mesh.node_count(), 0, height);
  Index highest = lowest_by(host, mesh.node_count(), 0, depth);
  const EndVolumes volume = end_volumes(host, body, height(lowest), height(highest));
  if (volume.low > volume.high) {
    for (double& x : body.axis) x = -x;
    std::swap(lowest, highest);
  }
  body.apex = lowest;
  body.base = height(highest);
}

}  // namespace

template <Space S>
HeartBody make_heart_body(const Context<Space::host>& host, const Context<S>& place,
                          const transient::RunOptions& options, const HeartParams& params,
                          const std::string& fibers_file, std::int64_t nodes, cli::RunClock& clock,
                          const transient::Say& say) {
  if (options.mesh.empty() && !fibers_file.empty()) {
    throw InputError("--fibers needs a mesh file: the fibres belong to its nodes or tetrahedra");
  }
  HeartBody body = options.mesh.empty() ? make_ventricle_body(host, options, params, nodes, clock)
                                        : read_body(host, place, options, params, fibers_file, clock, say);
  orient(host, body);
  clock.end("axis");
  return body;
}

#define X(S)                                                                                                       \
  template HeartBody make_heart_body(const Context<Space::host>&, const Context<S>&, const transient::RunOptions&, \
                                     const HeartParams&, const std::string&, std::int64_t, cli::RunClock&,         \
                                     const transient::Say&);
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

std::string resolution_warning(const HeartBody& body, const HeartParams& params) {
  const double width = front_width(params.tissue, params.conductivity.across);
  const double edge = body.input.facts.edge_mean;
  if (edge <= width) return "";
  const int times = static_cast<int>(std::ceil(std::log2(edge / width)));
  return text(
      "edges of %.2g mm do not resolve a wave front of %.2g mm across the fibres: the wave will be too fast or "
      "ragged, or stop; --refine %d is fine enough",
      edge, width, times);
}

std::vector<Index> usual_probes(const Context<Space::host>& host, const HeartBody& body) {
  const fem::TetMesh& mesh = body.input.mesh;
  const double low = dot(mesh.nodes[body.apex], body.axis);
  std::vector<Index> probes = {body.apex};
  for (const double share : {1.0 / 3, 2.0 / 3, 1.0}) {
    const double height = low + share * (body.base - low);
    // The outer surface first, then the height; equals go to the lower number.
    const Index nearest = lowest_by(host, mesh.node_count(), body.apex, [&](Index i) {
      return std::fabs(dot(mesh.nodes[i], body.axis) - height) + 10 * (1 - body.transmural[i]);
    });
    if (std::find(probes.begin(), probes.end(), nearest) == probes.end()) probes.push_back(nearest);
  }
  return probes;
}

}  // namespace newel::heart
