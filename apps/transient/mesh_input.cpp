// SPDX-License-Identifier: Apache-2.0
// Meshes as they come into a run.
#include "mesh_input.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "apps/common/text.hpp"

namespace newel::transient {
namespace {

using cli::text;

fem::MeshUnit named_unit(const std::string& name) {
  for (const fem::MeshUnit unit : {fem::MeshUnit::mm, fem::MeshUnit::cm}) {
    if (name == fem::name_of(unit)) return unit;
  }
  return fem::MeshUnit::m;
}

void refine_once(const Context<Space::host>& ctx, MeshInput& input) {
  constexpr std::size_t children = 8;
  std::vector<std::array<Index, 2>> parents;
  input.mesh = fem::refine(ctx, input.mesh, input.node_vectors.empty() ? nullptr : &parents);
  if (!input.node_vectors.empty()) {
    std::vector<fem::Point> refined(parents.size());
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const fem::Point& a = input.node_vectors[static_cast<std::size_t>(parents[i][0])];
      const fem::Point& b = input.node_vectors[static_cast<std::size_t>(parents[i][1])];
      // A fibre has no head: of b and -b the one that lies closer to a.
      const double sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] < 0 ? -1 : 1;
      for (std::size_t k = 0; k < 3; ++k) refined[i][k] = 0.5 * (a[k] + sign * b[k]);
    }
    input.node_vectors = std::move(refined);
  }
  if (!input.tet_vectors.empty()) {
    std::vector<fem::Point> refined;
    refined.reserve(children * input.tet_vectors.size());
    for (const fem::Point& vector : input.tet_vectors) refined.insert(refined.end(), children, vector);
    input.tet_vectors = std::move(refined);
  }
}

// Mechanical parts are judged by their extent; only for hearts are wall and edges worth a pass over the mesh.
fem::BodySize size_for_guess(const Context<Space::host>& ctx, const fem::TetMesh& mesh, fem::BodyKind kind) {
  if (kind == fem::BodyKind::heart) return fem::body_size(ctx, mesh);
  fem::BodySize size;
  for (int axis = 0; axis < 3; ++axis) {
    double low = mesh.nodes.empty() ? 0 : mesh.nodes[0][axis], high = low;
    for (const fem::Point& at : mesh.nodes) {
      low = std::min(low, at[axis]);
      high = std::max(high, at[axis]);
    }
    size.extent = std::max(size.extent, high - low);
  }
  return size;
}

// As --mesh-unit says, or a guess, which is reported with its basis in the program's `unit`.
fem::MeshUnit unit_of_file(const Context<Space::host>& ctx, const RunOptions& options, const fem::TetMesh& mesh,
                           fem::BodyKind kind, fem::MeshUnit unit, const Say& say, MeshInput& input) {
  if (options.mesh_unit != "auto") {
    input.file_unit = options.mesh_unit;
    return named_unit(options.mesh_unit);
  }
  const fem::BodySize size = size_for_guess(ctx, mesh, kind);
  const fem::MeshUnit from = fem::guess_unit(size, kind);
  const std::string name(fem::name_of(from)), in(fem::name_of(unit));
  const double scale = fem::metres_of(from) / fem::metres_of(unit);
  std::string words = text("the mesh is assumed to be in %s: its longest side is then %.3g %s", name.c_str(),
                           scale * size.extent, in.c_str());
  if (kind == fem::BodyKind::heart) {
    words += text(", its wall %.2g %s, its mean edge %.2g %s", scale * size.wall, in.c_str(), scale * size.edge,
                  in.c_str());
  }
  words += "; this is a guess, use --mesh-unit mm|cm|m to set the unit";
  input.file_unit = name + ", a guess";
  input.json["unit_guess"] = words;
  if (say) say(cli::labelled("unit", words));
  return from;
}

void describe(const Context<Space::host>& ctx, MeshInput& input, fem::MeshUnit unit) {
  input.around = std::make_shared<const fem::NodeTets>(fem::node_tets(ctx, input.mesh));
  input.facts = fem::mesh_facts(ctx, input.mesh, *input.around);
  const fem::MeshFacts& facts = input.facts;
  const std::size_t pieces = facts.component_nodes.size();
  if (pieces > 1) {
    input.remarks.push_back(text("the mesh has %zu separate pieces; the largest has %s of the nodes", pieces,
                                 cli::thousands(facts.component_nodes.front()).c_str()));
  }
  cli::Json& json = input.json;
  json["source"] = input.source;
  json["nodes"] = facts.nodes;
  json["tetrahedra"] = facts.tets;
  json["pieces"] = pieces;
  json["unit"] = fem::name_of(unit);
  json["low"] = facts.low;
  json["high"] = facts.high;
  json["edge_min"] = facts.edge_min;
  json["edge_mean"] = facts.edge_mean;
  json["edge_max"] = facts.edge_max;
  json["volume"] = facts.volume;
  json["dihedral_min"] = facts.dihedral_min;
  json["remarks"] = input.remarks;
}

}  // namespace

MeshInput read_mesh_input(const Context<Space::host>& ctx, const RunOptions& options, fem::BodyKind kind,
                          fem::MeshUnit unit, cli::RunClock& clock, const Say& say) {
  fem::MeshFile file = fem::read_mesh(options.mesh);
  MeshInput input;
  input.source = options.mesh;
  if (file.dropped_nodes() > 0) {
    input.remarks.push_back("removed " + cli::count_of(file.dropped_nodes(), "node", "nodes") +
                            " that no tetrahedron uses");
  }
  if (file.turned) input.remarks.push_back("all tetrahedra were inverted: two corners of each were swapped");
  const fem::MeshUnit from = unit_of_file(ctx, options, file.mesh, kind, unit, say, input);
  for (Index i = 0; i < file.mesh.node_count(); ++i) input.node_numbers.push_back(file.node_number(i));
  input.mesh = std::move(file.mesh);
  input.node_vectors = std::move(file.node_vectors);
  input.tet_vectors = std::move(file.tet_vectors);
  if (from != unit) {
    const double scale = fem::metres_of(from) / fem::metres_of(unit);
    for (fem::Point& at : input.mesh.nodes) {
      for (double& coordinate : at) coordinate *= scale;
    }
  }
  clock.end("mesh file");
  if (options.refine > 0) input.unrefined = std::make_shared<const fem::TetMesh>(input.mesh);
  for (int i = 0; i < options.refine; ++i) refine_once(ctx, input);
  std::int64_t next = *std::max_element(input.node_numbers.begin(), input.node_numbers.end());
  while (input.node_numbers.size() < input.mesh.nodes.size()) input.node_numbers.push_back(++next);
  clock.end("refinement");
  describe(ctx, input, unit);
  input.json["format"] = file.format;
  clock.end("mesh facts");
  return input;
}

MeshInput made_mesh_input(const Context<Space::host>& ctx, const RunOptions& options, fem::TetMesh mesh,
                          const std::string& source, fem::MeshUnit unit, cli::RunClock& clock) {
  MeshInput input;
  input.mesh = std::move(mesh);
  input.source = source;
  for (int i = 0; i < options.refine; ++i) refine_once(ctx, input);
  clock.end("refinement");
  describe(ctx, input, unit);
  clock.end("mesh facts");
  return input;
}

Index MeshInput::node_of(std::int64_t number) const {
  if (node_numbers.empty()) return number >= 1 && number <= mesh.node_count() ? static_cast<Index>(number - 1) : -1;
  const auto at = std::find(node_numbers.begin(), node_numbers.end(), number);
  return at == node_numbers.end() ? -1 : static_cast<Index>(at - node_numbers.begin());
}

std::string mesh_text(const MeshInput& input) {
  const fem::MeshFacts& f = input.facts;
  const std::string unit = input.json.value("unit", "");
  std::string lines = cli::labelled(
      "mesh", input.source + ": " + cli::thousands(f.nodes) + " nodes, " + cli::thousands(f.tets) + " tetrahedra, " +
                  text("%.3g x %.3g x %.3g %s, edges %.2g to %.2g", f.high[0] - f.low[0], f.high[1] - f.low[1],
                       f.high[2] - f.low[2], unit.c_str(), f.edge_min, f.edge_max));
  for (const std::string& remark : input.remarks) lines += cli::labelled("", remark);
  return lines;
}

}  // namespace newel::transient
