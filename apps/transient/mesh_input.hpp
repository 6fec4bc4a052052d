// SPDX-License-Identifier: Apache-2.0
/// The mesh of a run: read or made, refined, brought to the program's unit, described.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/common/run_clock.hpp"
#include "apps/fem/mesh_facts.hpp"
#include "apps/fem/mesh_file.hpp"
#include "run_options.hpp"

namespace newel::transient {

struct MeshInput {
  fem::TetMesh mesh;                     ///< in the program's unit
  std::vector<fem::Point> node_vectors;  ///< of the file, one per node; empty: none
  std::vector<fem::Point> tet_vectors;   ///< one per tetrahedron; empty: none
  fem::MeshFacts facts;                  ///< in the program's unit
  /// The tetrahedra around each node of `mesh`, which setup needs again and again. A program drops them with it.
  std::shared_ptr<const fem::NodeTets> around;
  /// `mesh` before it was refined; null: it was not.
  std::shared_ptr<const fem::TetMesh> unrefined;
  std::string source;                ///< file, or what was made
  std::string file_unit;             ///< "cm", or "cm, a guess": what the file's coordinates were taken in
  std::vector<std::string> remarks;  ///< what a user should know: nodes dropped, pieces
  cli::Json json;                    ///< for RunReport::mesh
  /// The number by which the file calls each node; those that refinement adds continue behind the largest. Empty: 1,
  /// 2,
  /// ...
  std::vector<std::int64_t> node_numbers;

  std::int64_t number_of(Index node) const {
    return node_numbers.empty() ? std::int64_t{node} + 1 : node_numbers[static_cast<std::size_t>(node)];
  }
  /// The node of that number, -1 where there is none.
  Index node_of(std::int64_t number) const;
};

/// Receives lines for the user while work continues.
using Say = std::function<void(const std::string& lines)>;

/// Reads options.mesh, scales it from --mesh-unit (guessed for a `kind` of body) to `unit`, refines it --refine
/// times: vectors on nodes are averaged along the edges that are halved, those on tetrahedra are handed down. A unit
/// that is guessed is handed to `say` at once, where it is not empty: what follows may fail because of it. Ends the
/// phases "mesh file", "refinement" and "mesh facts" of `clock`. Throws what `fem::read_mesh` does.
MeshInput read_mesh_input(const Context<Space::host>& ctx, const RunOptions& options, fem::BodyKind kind,
                          fem::MeshUnit unit, cli::RunClock& clock, const Say& say = {});

/// The same for a mesh that the program made, already in its unit; it is refined too.
MeshInput made_mesh_input(const Context<Space::host>& ctx, const RunOptions& options, fem::TetMesh mesh,
                          const std::string& source, fem::MeshUnit unit, cli::RunClock& clock);

/// "25,317 nodes, 131,072 tetrahedra, 60 x 60 x 36 mm" and the remarks, one line each, labelled.
std::string mesh_text(const MeshInput& input);

}  // namespace newel::transient
